import { escapeHtml } from '@posthorn/kernel';
import type { MailDraft } from './send-system-mail.ts';

/** A sentence, or a link as a paragraph of its own. */
type Paragraph = string | { readonly link: string };

/** The same paragraphs as text and as HTML; in HTML, long links wrap on narrow screens. */
export function mailBody(paragraphs: readonly Paragraph[]): Pick<MailDraft, 'text' | 'html'> {
  return {
    text: paragraphs
      .map((paragraph) => (typeof paragraph === 'string' ? paragraph : paragraph.link))
      .join('\n\n'),
    html: `<div style="overflow-wrap:anywhere">${paragraphs.map((paragraph) => `<p>${inHtml(paragraph)}</p>`).join('')}</div>`,
  };
}

function inHtml(paragraph: Paragraph): string {
  if (typeof paragraph === 'string') return escapeHtml(paragraph);
  const link = escapeHtml(paragraph.link);
  return `<a href="${link}">${link}</a>`;
}

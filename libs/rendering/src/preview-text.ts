import { escapeHtml } from '@posthorn/kernel';
import { bodyStart } from './body-start.ts';

/** More characters than any inbox shows next to the subject. */
const PREVIEW_CHARACTERS = 200;
/**
 * An invisible space that is not collapsed with its neighbours: combining grapheme joiner, zero-width non-joiner, no-break
 * space. As entities, because they survive any charset and stay short in quoted-printable.
 */
const FILLER = '&#847;&zwnj;&nbsp;';
/** Without a tiny font size, which would hide nothing more, and which spam filters count against an email. */
const HIDDEN = 'display:none;max-height:0;max-width:0;opacity:0;overflow:hidden;line-height:1px;mso-hide:all';

/**
 * Inserts a hidden pre-header, which inboxes show next to the subject, at the start of the body of `html`. It is padded, so that
 * they show no text of the body after it. A blank `previewText` changes nothing.
 *
 * @param previewText plain text; it is escaped here
 */
export function withPreviewText(html: string, previewText: string): string {
  if (previewText.trim() === '') return html;
  const at = bodyStart(html);
  return html.slice(0, at) + preHeader(previewText) + html.slice(at);
}

function preHeader(previewText: string): string {
  const missing = Math.max(0, PREVIEW_CHARACTERS - [...previewText].length);
  return `<div style="${HIDDEN}">${escapeHtml(previewText)}${FILLER.repeat(missing)}</div>`;
}

import { escapeHtml } from '@posthorn/kernel';
import type { SystemMail } from '../system/send-system-mail.ts';

/** The mail that asks whoever reads an address whether a workspace may send from it. */
export function verificationMail(
  address: string,
  workspaceName: string,
  link: string,
): Pick<SystemMail, 'to' | 'subject' | 'html' | 'text'> {
  const question = `The workspace “${workspaceName}” asks to send emails in the name of ${address}.`;
  const consent = 'If you want that, open this link and press the button. It is good for 24 hours, and once.';
  const otherwise =
    'If you do not expect this, do nothing: without your consent nothing is sent in your name.';
  return {
    to: address,
    subject: `May emails be sent as ${address}?`,
    text: [question, consent, link, otherwise].join('\n\n'),
    html:
      `<p>${escapeHtml(question)}</p><p>${consent}</p>` +
      `<p><a href="${escapeHtml(link)}">${escapeHtml(link)}</a></p><p>${otherwise}</p>`,
  };
}

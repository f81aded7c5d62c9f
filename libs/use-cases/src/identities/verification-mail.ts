import { mailBody } from '../system/mail-body.ts';
import type { MailDraft } from '../system/send-system-mail.ts';

/** The mail that asks the owner of an address whether a workspace may send from it. */
export function verificationMail(address: string, workspaceName: string, link: string): MailDraft {
  const question = `The workspace “${workspaceName}” asks to send emails in the name of ${address}.`;
  const consent = 'If you want that, open this link and press the button. It is good for 24 hours, and once.';
  const otherwise =
    'If you do not expect this, do nothing: without your consent nothing is sent in your name.';
  return {
    to: address,
    subject: `May emails be sent as ${address}?`,
    ...mailBody([question, consent, { link }, otherwise]),
  };
}

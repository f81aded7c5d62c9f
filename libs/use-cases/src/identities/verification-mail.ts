import { SECRET_PREFIXES } from '@posthorn/signing';
import { mailBody } from '../system/mail-body.ts';
import type { LinkKind } from '../system/send-link.ts';
import type { MailDraft } from '../system/send-system-mail.ts';

/** The links by which the owners of addresses verify them. */
export const VERIFICATION_LINK: LinkKind = {
  prefix: SECRET_PREFIXES.verification,
  path: '/verify/identity/',
  mailOf: verificationMail,
};

/** The mail that asks the owner of an address whether a workspace may send from it. */
function verificationMail(address: string, workspaceName: string, link: string): MailDraft {
  const question = `The workspace “${workspaceName}” asks to send emails in the name of ${address}.`;
  const consent =
    'If you want that, open this link and press the button. It is valid for 24 hours, and can be used once.';
  const otherwise =
    'If you do not expect this, do nothing: without your consent nothing is sent in your name.';
  return {
    to: address,
    subject: `May emails be sent as ${address}?`,
    ...mailBody([question, consent, { link }, otherwise]),
  };
}

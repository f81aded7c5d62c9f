import { INVITATION_DAYS } from '@posthorn/domain';
import { SECRET_PREFIXES } from '@posthorn/signing';
import { mailBody } from '../system/mail-body.ts';
import type { LinkKind } from '../system/send-link.ts';
import type { MailDraft } from '../system/send-system-mail.ts';

/** The links by which invited people become members. */
export const INVITATION_LINK: LinkKind = {
  prefix: SECRET_PREFIXES.invitation,
  path: '/invitations/',
  mailOf: invitationMail,
};

/**
 * The mail that invites somebody to a workspace. It contains no text that a caller chose: it goes to any address that a caller names, and
 * must not carry a stranger's words there.
 */
function invitationMail(email: string, workspaceName: string, link: string): MailDraft {
  const question = `You are invited to become a member of the workspace “${workspaceName}”.`;
  const consent = `If you want that, open this link and press the button. It is valid for ${INVITATION_DAYS} days, and can be used once.`;
  const otherwise = 'If you do not expect this, do nothing: without your consent nothing happens.';
  return {
    to: email,
    subject: `You are invited to “${workspaceName}”`,
    ...mailBody([question, consent, { link }, otherwise]),
  };
}

import type { InvitationId, UserId } from '@posthorn/kernel';
import { endedRefusal, invitationRefusal, lastEditorRefusal, noSystemMails } from '@posthorn/use-cases';
import type { Refusals } from '../openapi/describes.ts';

/** The refusals of calls that send a mail. */
const MAIL_REFUSALS: Refusals = {
  'Too many invitations': invitationRefusal({ refused: 'too_many' }),
  'No mails': noSystemMails(),
  'Too many mails': invitationRefusal({ refused: 'too_many_mails', retryAfterSeconds: 60 }),
};

export const INVITE_REFUSALS: Refusals = {
  'A member': invitationRefusal({
    refused: 'is_member',
    id: 'usr_01h2xcejqtf2nbrexx3vqjhp41' as UserId,
  }),
  'Invited': invitationRefusal({
    refused: 'is_invited',
    id: 'inv_01h2xcejqtf2nbrexx3vqjhp41' as InvitationId,
  }),
  ...MAIL_REFUSALS,
};

export const REVOKE_REFUSALS: Refusals = {
  Accepted: endedRefusal({ refused: 'ended', status: 'ACCEPTED' }),
};

export const RESEND_REFUSALS: Refusals = {
  ...REVOKE_REFUSALS,
  Revoked: endedRefusal({ refused: 'ended', status: 'REVOKED' }),
  ...MAIL_REFUSALS,
};

export const LAST_EDITOR: Refusals = { 'Last editor': lastEditorRefusal() };

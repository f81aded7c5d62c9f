import { Refusal } from '@posthorn/kernel';
import { WORKSPACE_LIMITS } from '@posthorn/domain';
import type { InvitationEnded, InvitationRefusal } from '@posthorn/database';

/** The refusal for an invitation that was not created. */
export function invitationRefusal(refusal: InvitationRefusal): Refusal {
  switch (refusal.refused) {
    case 'is_member':
      return new Refusal(
        409,
        `\`email\` is the address of a member already, ${refusal.id}; change that member instead`,
      );
    case 'is_invited':
      return new Refusal(
        409,
        `\`email\` is invited already, ${refusal.id}; send that invitation again, or revoke it first`,
      );
    case 'too_many':
      return new Refusal(
        409,
        `The workspace has ${WORKSPACE_LIMITS.invitations} open invitations, the maximum; revoke one first`,
      );
    case 'too_many_mails':
      return new Refusal(
        429,
        'Too many invitations were sent recently, to this address or from this workspace; try again later',
        { retryAfterSeconds: refusal.retryAfterSeconds },
      );
  }
}

/** The refusal for a change of an invitation that has ended. */
export function endedRefusal({ status }: InvitationEnded): Refusal {
  return status === 'ACCEPTED'
    ? new Refusal(409, 'The invitation was accepted already; change or remove the member instead')
    : new Refusal(409, 'The invitation was revoked already; invite the person again');
}

/** The workspace would be left without a member who may manage it. */
export function lastEditorRefusal(): Refusal {
  return new Refusal(
    409,
    'The member is the last one with the role `EDITOR`; give another member that role first',
  );
}

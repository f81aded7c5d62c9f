import type { DescribedRefusal } from '../openapi/describes.ts';
import { NO_MAILS } from '../openapi/no-mails.ts';

const TOO_MANY_OPEN: DescribedRefusal = {
  status: 409,
  when: 'Too many invitations',
  message: 'The workspace has 100 open invitations, which is as many as it may; revoke one first',
};
const TOO_MANY_MAILS: DescribedRefusal = {
  status: 429,
  when: 'Too many mails',
  message: 'Too many invitations were sent of late, to this address or from this workspace; try again later',
};
const ACCEPTED: DescribedRefusal = {
  status: 409,
  when: 'Accepted',
  message: 'The invitation was accepted already; change or remove the member instead',
};
const REVOKED: DescribedRefusal = {
  status: 409,
  when: 'Revoked',
  message: 'The invitation was revoked already; invite the person again',
};

export const INVITE_REFUSALS: readonly DescribedRefusal[] = [
  {
    status: 409,
    when: 'A member',
    message:
      '`email` is the address of a member already, usr_01h2xcejqtf2nbrexx3vqjhp41; change that member instead',
  },
  {
    status: 409,
    when: 'Invited',
    message:
      '`email` is invited already, inv_01h2xcejqtf2nbrexx3vqjhp41; send that invitation again, or revoke it first',
  },
  TOO_MANY_OPEN,
  NO_MAILS,
  TOO_MANY_MAILS,
];

export const RESEND_REFUSALS: readonly DescribedRefusal[] = [
  ACCEPTED,
  REVOKED,
  TOO_MANY_OPEN,
  NO_MAILS,
  TOO_MANY_MAILS,
];

export const REVOKE_REFUSALS: readonly DescribedRefusal[] = [ACCEPTED];

export const LAST_EDITOR: DescribedRefusal = {
  status: 409,
  when: 'Last editor',
  message: 'The member is the last one with the role `EDITOR`; give another member that role first',
};

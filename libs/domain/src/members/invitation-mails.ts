import type { MailBound } from '../mail-bound.ts';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** How many mails that invite somebody may be caused. */
export const INVITATION_MAIL_BOUNDS: readonly MailBound[] = [
  { of: 'address in workspace', max: 5, withinSeconds: DAY },
  { of: 'address', max: 20, withinSeconds: DAY },
  { of: 'workspace', max: 200, withinSeconds: DAY },
];

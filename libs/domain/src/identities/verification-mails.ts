import type { MailLimit } from '../mail-limit.ts';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** How long a verification link is valid. */
export const VERIFICATION_LINK_SECONDS = DAY;

/** Limits on verification mails. */
export const VERIFICATION_MAIL_LIMITS: readonly MailLimit[] = [
  { of: 'address in workspace', max: 1, withinSeconds: MINUTE },
  { of: 'address in workspace', max: 5, withinSeconds: DAY },
  { of: 'address', max: 10, withinSeconds: DAY },
  { of: 'workspace', max: 100, withinSeconds: DAY },
];

/** How long mails are counted: the longest period of the limits. */
export const VERIFICATION_MAILS_COUNTED_SECONDS = Math.max(
  ...VERIFICATION_MAIL_LIMITS.map(({ withinSeconds }) => withinSeconds),
);

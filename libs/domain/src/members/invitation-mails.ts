import type { MailLimit } from '../mail-limit.ts';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** Limits on invitation mails. */
export const INVITATION_MAIL_LIMITS: readonly MailLimit[] = [
  { of: 'address in workspace', max: 5, withinSeconds: DAY },
  { of: 'address', max: 20, withinSeconds: DAY },
  { of: 'workspace', max: 200, withinSeconds: DAY },
];

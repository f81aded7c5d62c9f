import type { MailBound } from '../mail-bound.ts';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** How long the link in a mail verifies an address. */
export const VERIFICATION_LINK_SECONDS = DAY;

/** How many mails that ask for a verification may be caused; the strictest bound is about the address, whoever asks. */
export const VERIFICATION_MAIL_BOUNDS: readonly MailBound[] = [
  { of: 'address in workspace', max: 1, withinSeconds: MINUTE },
  { of: 'address in workspace', max: 5, withinSeconds: DAY },
  { of: 'address', max: 10, withinSeconds: DAY },
  { of: 'workspace', max: 100, withinSeconds: DAY },
];

/** Mails are counted for as long as the longest bound looks back. */
export const VERIFICATION_MAILS_COUNTED_SECONDS = Math.max(
  ...VERIFICATION_MAIL_BOUNDS.map(({ withinSeconds }) => withinSeconds),
);

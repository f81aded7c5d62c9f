const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** How long the link in a mail verifies an address. */
export const VERIFICATION_LINK_SECONDS = DAY;

/** At most `most` mails within `withinSeconds`; of a workspace, to an address, or of a workspace to an address. */
export interface MailBound {
  readonly of: 'workspace' | 'address' | 'address in workspace';
  readonly most: number;
  readonly withinSeconds: number;
}

/**
 * How many mails that ask for a verification may be caused. They go to whatever address a caller names, so they must be of no
 * use for flooding somebody: the strictest bound is about the address, whoever asks.
 */
export const VERIFICATION_MAIL_BOUNDS: readonly MailBound[] = [
  { of: 'address in workspace', most: 1, withinSeconds: MINUTE },
  { of: 'address in workspace', most: 5, withinSeconds: DAY },
  { of: 'address', most: 10, withinSeconds: DAY },
  { of: 'workspace', most: 100, withinSeconds: DAY },
];

/** Mails are counted for as long as the longest bound looks back. */
export const VERIFICATION_MAILS_COUNTED_SECONDS = Math.max(
  ...VERIFICATION_MAIL_BOUNDS.map(({ withinSeconds }) => withinSeconds),
);

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** At most `most` mails within `withinSeconds`: of a workspace, to an address, or of a workspace to an address. */
export interface InvitationMailBound {
  readonly of: 'address in workspace' | 'address' | 'workspace';
  readonly most: number;
  readonly withinSeconds: number;
}

/** How many mails may be caused: they go to whatever address a caller names, so they must be of no use for flooding somebody. */
export const INVITATION_MAIL_BOUNDS: readonly InvitationMailBound[] = [
  { of: 'address in workspace', most: 5, withinSeconds: DAY },
  { of: 'address', most: 20, withinSeconds: DAY },
  { of: 'workspace', most: 200, withinSeconds: DAY },
];

/**
 * How many of Posthorn's own mails may be caused: at most `max` within `withinSeconds`, of a workspace, to an address, or of a
 * workspace to an address. They go to whatever address a caller names, so they must be of no use for flooding somebody.
 */
export interface MailBound {
  readonly of: 'workspace' | 'address' | 'address in workspace';
  readonly max: number;
  readonly withinSeconds: number;
}

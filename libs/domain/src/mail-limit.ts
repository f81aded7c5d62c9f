/**
 * A limit on Posthorn's own mails: at most `max` within `withinSeconds` per workspace, per address, or per address and workspace.
 * Callers choose the address, so without limits the mails could be abused to flood somebody.
 */
export interface MailLimit {
  readonly of: 'workspace' | 'address' | 'address in workspace';
  readonly max: number;
  readonly withinSeconds: number;
}

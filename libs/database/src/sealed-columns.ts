/** A column of type `bytea` whose values are secrets, encrypted. */
export interface SealedColumn {
  /** A table whose key is a column `id` of type `uuid`. */
  readonly table: string;
  readonly column: string;
  /** What a value is bound to, before the id of its row: see {@link placeOf}. */
  readonly boundTo: string;
}

/** Every column that holds encrypted secrets: `posthorn secrets rotate` seals these anew, and a test finds one that is missing. */
export const SEALED_COLUMNS = {
  invitationMail: { table: 'invitation_mails', column: 'sealed_mail', boundTo: 'invitation_mail' },
  verificationMail: { table: 'verification_links', column: 'sealed_mail', boundTo: 'verification_mail' },
  dkimPrivateKey: { table: 'dkim_keys', column: 'private_key', boundTo: 'dkim_key' },
  webhookToken: { table: 'webhooks', column: 'token', boundTo: 'webhook' },
  webhookPreviousToken: { table: 'webhooks', column: 'previous_token', boundTo: 'webhook_previous' },
} as const satisfies Record<string, SealedColumn>;

/** The columns that hold mails as long as they are owed. */
export type OwedMails = (typeof SEALED_COLUMNS)['invitationMail' | 'verificationMail'];

/**
 * The place that a secret is sealed for and opened at: copied to another row or column it does not open.
 *
 * @param rowId the uuid of the row
 */
export function placeOf({ boundTo }: SealedColumn, rowId: string): string {
  return `${boundTo}:${rowId}`;
}

/** A column of type `bytea` whose values are secrets, encrypted. */
export interface SealedColumn {
  /** A table whose key is a column `id` of type `uuid`. */
  readonly table: string;
  readonly column: string;
  /** The context that a value is bound to, followed by the id of its row: see {@link sealContextOf}. */
  readonly boundTo: string;
}

/** Every column with encrypted secrets: `posthorn secrets rotate` re-encrypts these, and a test finds a missing one. */
export const SEALED_COLUMNS = {
  invitationMail: { table: 'invitation_mails', column: 'sealed_mail', boundTo: 'invitation_mail' },
  verificationMail: { table: 'verification_links', column: 'sealed_mail', boundTo: 'verification_mail' },
  dkimPrivateKey: { table: 'dkim_keys', column: 'private_key', boundTo: 'dkim_key' },
  webhookToken: { table: 'webhooks', column: 'token', boundTo: 'webhook' },
  webhookPreviousToken: { table: 'webhooks', column: 'previous_token', boundTo: 'webhook_previous' },
} as const satisfies Record<string, SealedColumn>;

/** The columns that hold pending mails. */
export type PendingMailColumn = (typeof SEALED_COLUMNS)['invitationMail' | 'verificationMail'];

/**
 * The context that a secret is bound to: copied to another row or column, it cannot be decrypted.
 *
 * @param rowId the uuid of the row
 */
export function sealContextOf({ boundTo }: SealedColumn, rowId: string): string {
  return `${boundTo}:${rowId}`;
}

import type { Database } from '../connection/connection.ts';
import type { PendingMailColumn } from '../schema/sealed-columns.ts';

/** A mail that is not durable as an email yet. */
export interface PendingMail {
  /** A uuid; the encrypted mail is bound to its row. */
  readonly id: string;
  readonly sealedMail: Buffer;
}

/** A mail with a link by which whoever has it consents to something. */
export interface LinkMail extends PendingMail {
  /** SHA-256 of the token in the link. */
  readonly tokenHash: Buffer;
}

/** Mails that were stored together with what they are about, and have not been submitted for sending yet. */
export class PendingMailStore {
  /** @param mails where they are stored; see `SEALED_COLUMNS` */
  constructor(
    private readonly database: Database,
    readonly mails: PendingMailColumn,
  ) {}

  /**
   * The next mails of all workspaces that have been pending for some time, the oldest first. Index: that of the table's pending mails.
   *
   * @param after the last one that was read; null: from the beginning
   */
  async pending(forSeconds: number, after: string | null, limit: number): Promise<PendingMail[]> {
    const { clock, pool } = this.database;
    const before = new Date(clock.nowMs() - forSeconds * 1_000);
    const { table, column } = this.mails;
    const { rows } = await pool.query<PendingMail>(
      `SELECT   id, ${column} AS "sealedMail" FROM ${table}
       WHERE    ${column} IS NOT NULL AND created_at <= $1 AND ($2::uuid IS NULL OR id > $2)
       ORDER BY id
       LIMIT    $3::int`,
      [before, after, limit],
    );
    return rows;
  }

  /** Settles a mail that is durable as an email; idempotent. */
  async settle(id: string): Promise<void> {
    const { table, column } = this.mails;
    await this.database.pool.query(`UPDATE ${table} SET ${column} = NULL WHERE id = $1::uuid`, [id]);
  }
}

import { awaitStandby } from '../transactions/await-standby.ts';
import type { Database } from '../connection/connection.ts';
import type { Actor, JsonObject } from '@posthorn/domain';
import type { SealedColumn } from '../schema/sealed-columns.ts';
import { transactOn } from '../transactions/transaction.ts';
import { ofSystem, recordAudit } from './workspaces/audit-log-store.ts';

/** A row with an encrypted secret. */
export interface SealedSecret {
  readonly rowId: string;
  readonly sealed: Buffer;
}

/** All encrypted secrets of all workspaces, for re-encrypting them with another key. */
export class SealedSecretStore {
  constructor(private readonly database: Database) {}

  /**
   * The next secrets that do not begin with `head`, ordered by their rows' ids. When there are none, a failover brings none back. Index: the table's
   * primary key.
   *
   * @param after the last row that was read; null: from the beginning
   */
  async listOthers(
    { table, column }: SealedColumn,
    head: Buffer,
    after: string | null,
    limit: number,
  ): Promise<SealedSecret[]> {
    const { rows } = await this.database.pool.query<SealedSecret>(
      `SELECT id AS "rowId", ${column} AS sealed FROM ${table}
       WHERE substring(${column} FROM 1 FOR octet_length($1::bytea)) <> $1 AND ($2::uuid IS NULL OR id > $2)
       ORDER BY id
       LIMIT $3::int`,
      [head, after, limit],
    );
    if (rows.length === 0) await awaitStandby(this.database.pool);
    return rows;
  }

  /** Replaces a secret by the same one under another key, unless it was changed in the meantime. */
  async replace(
    { table, column }: SealedColumn,
    { rowId, sealed }: SealedSecret,
    anew: Buffer,
  ): Promise<void> {
    await this.database.pool.query(
      `UPDATE ${table} SET ${column} = $3 WHERE id = $1::uuid AND ${column} = $2`,
      [rowId, sealed, anew],
    );
  }

  /** Records in the system's audit log that somebody re-encrypts the secrets. */
  record(actor: Actor, detail: JsonObject): Promise<void> {
    const change = ofSystem('secrets.rotated', actor, detail);
    return transactOn(this.database, (client) => recordAudit(client, this.database.clock.nowMs(), change));
  }
}

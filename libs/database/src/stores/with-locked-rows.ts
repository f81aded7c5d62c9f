import type pg from 'pg';
import type { Database } from '../connection/connection.ts';
import { LOCK_OUTBOX_ROWS } from '../sql/claims.ts';
import { transactOn } from '../transactions/transaction.ts';

/** Locks rows of the outbox and then runs `work` in the same transaction; see {@link LOCK_OUTBOX_ROWS} for why that takes two statements. */
export function withLockedRows<Result>(
  database: Pick<Database, 'pool' | 'onEventsDue'>,
  ids: readonly string[],
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return transactOn(database, async (client) => {
    await client.query({ name: 'lock_outbox_rows', text: LOCK_OUTBOX_ROWS, values: [ids] });
    return work(client);
  });
}

import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type pg from 'pg';
import type { TimeoutClient } from '../connection/timeout-client.ts';
import type { Database } from '../connection/connection.ts';
import { announceDueEvents } from './due-event-lanes.ts';
import type { Prisma } from '../generated/client.ts';

/** A Prisma transaction. */
export type Transaction = Prisma.TransactionClient;

/** Runs the work in a Prisma transaction, which is rolled back if it throws. It must not do network I/O. */
export async function transact<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const { connectMs, transactionMs } = database.limits;
  const options = { maxWait: connectMs, timeout: transactionMs };
  const { transaction, result } = await database.prisma.$transaction(async (transaction) => {
    return { transaction, result: await work(transaction) };
  }, options);
  announceDueEvents(database, transaction);
  return result;
}

/** A pooled connection in a transaction. */
export type TransactionClient = pg.PoolClient & Pick<TimeoutClient, 'pipelineWithNext'>;

/** Whether BEGIN takes a round trip of its own, or is pipelined with the first statement. */
export type BeginMode = 'separate' | 'pipelined';

/**
 * The same on a plain pg connection, for hot statements.
 *
 * @param begins `pipelined` saves a round trip where callers wait for the result. Where groups form while the previous one is under way, it makes them smaller,
 *   which costs more than it saves (decisions 38 and 50).
 * @throws what `pg` throws
 */
export async function transactOn<Result>(
  database: Pick<Database, 'pool' | 'onEventsDue'>,
  work: (client: TransactionClient) => Promise<Result>,
  begins: BeginMode = 'separate',
): Promise<Result> {
  const client = (await database.pool.connect()) as TransactionClient;
  let fault: Error | undefined;
  try {
    if (begins === 'pipelined') client.pipelineWithNext({ text: 'BEGIN' });
    else await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    announceDueEvents(database, client);
    return result;
  } catch (error) {
    fault = error as Error;
    throw error;
  } finally {
    // After an error the connection is closed, which rolls back the transaction.
    client.release(fault);
  }
}

/** A transaction of either kind, or what runs a statement without one. */
export type AnyTransaction = Transaction | Pick<pg.ClientBase, 'query'>;

/** Runs a statement in a transaction of either kind. @returns its rows @throws what Prisma or `pg` throws */
export async function runSql<Row extends pg.QueryResultRow>(
  transaction: AnyTransaction,
  sql: string,
  values: readonly string[] = [],
): Promise<readonly Row[]> {
  if ('$queryRawUnsafe' in transaction) return transaction.$queryRawUnsafe<Row[]>(sql, ...values);
  return (await transaction.query<Row>(sql, [...values])).rows;
}

/** Sends with the next statement that this transaction waits for each lock for no longer than this. */
export function limitLockWaits(client: Pick<TransactionClient, 'pipelineWithNext'>, ms: number): void {
  client.pipelineWithNext({ text: `SET LOCAL lock_timeout = ${Math.ceil(ms)}` });
}

/**
 * Runs the work in a transaction that holds a lock on the workspace, so that a limit such as "at most 100 keys" also holds for concurrent changes. The lock does
 * not block acceptance, which locks only the key of the row.
 *
 * @throws Refusal (503) when too many changes of the workspace wait in this process
 */
export function changeWorkspace<Result>(
  database: Database,
  workspaceId: WorkspaceId,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.changes.run(workspaceId, () =>
    transact(database, async (transaction) => {
      await transaction.$executeRaw`SELECT FROM workspaces WHERE id = ${uuidOf(workspaceId)}::uuid FOR NO KEY UPDATE`;
      return work(transaction);
    }),
  );
}

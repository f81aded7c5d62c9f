import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type pg from 'pg';
import type { TimeoutClient } from './timeout-client.ts';
import type { Database } from './connection.ts';
import { announceDueEvents } from './due-event-lanes.ts';
import type { Prisma } from './generated/client.ts';

/** Several statements that happen together or not at all. */
export type Transaction = Prisma.TransactionClient;

const WAIT_FOR_CONNECTION_MS = 3_000;
/** Beyond the time-out of any statement in it. */
const MAX_MS = 10_000;

/** Does the work in one transaction; what it throws undoes all of it. Nothing in it may talk to a network. */
export async function transact<Result>(
  database: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const options = { maxWait: WAIT_FOR_CONNECTION_MS, timeout: MAX_MS };
  const { transaction, result } = await database.prisma.$transaction(async (transaction) => {
    return { transaction, result: await work(transaction) };
  }, options);
  announceDueEvents(database, transaction);
  return result;
}

/** A connection of the pool, in a transaction. */
export type TransactionClient = pg.PoolClient & Pick<TimeoutClient, 'pipelineWithNext'>;

/** Whether BEGIN makes a round trip of its own, or goes along with the first statement. */
export type BeginMode = 'separate' | 'pipelined';

/**
 * The same on a connection of its own, for statements that are hot.
 *
 * @param begins `along` saves time where callers wait for it; where groups are formed of what comes in meanwhile, it makes them smaller, which costs
 *   more than it saves (decisions 38 and 50)
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
    // A client that failed is not used again: its transaction ends with its connection.
    client.release(fault);
  }
}

/**
 * Does the work in a transaction in which nobody else counts or changes what the workspace has, so that a limit such as "at
 * most 100 keys" holds when two add one at the same moment. It holds up no acceptance, which only shares the row's key.
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
      await lockWorkspace(transaction, workspaceId);
      return work(transaction);
    }),
  );
}

async function lockWorkspace(transaction: Transaction, workspaceId: WorkspaceId): Promise<void> {
  await transaction.$executeRaw`SELECT FROM workspaces WHERE id = ${uuidOf(workspaceId)}::uuid FOR NO KEY UPDATE`;
}

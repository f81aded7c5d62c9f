import { SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { type AnyTransaction, runSql } from './transaction.ts';

/**
 * Locks a row that nobody changes, which writes WAL. Index: workspaces_pkey. Locks: the system's workspace, which conflicts only with deleting it.
 */
const LOCK_SYSTEM_WORKSPACE = `SELECT FROM workspaces WHERE id = '${uuidOf(SYSTEM_WORKSPACE_ID)}' FOR KEY SHARE`;

/**
 * To be called in a transaction that finds nothing to change, before the caller is told so: the COMMIT then waits for the synchronous standby until it has what
 * this transaction has read, and a failover cannot undo it (decision 3).
 */
export async function awaitStandby(transaction: AnyTransaction): Promise<void> {
  await runSql(transaction, LOCK_SYSTEM_WORKSPACE);
}

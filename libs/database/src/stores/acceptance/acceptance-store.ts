import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type pg from 'pg';
import type { Database } from '../../connection/connection.ts';
import { FIND_EMAILS } from '../../sql/accept.ts';
import { FIND_ANSWER } from '../../sql/idempotency-keys.ts';
import { limitLockWaits, transactOn } from '../../transactions/transaction.ts';
import type { AcceptableCall, AcceptableEmail, CallOutcome, KnownAnswer } from './acceptable-email.ts';
import { type AuditedChange, recordAudit } from '../workspaces/audit-log-store.ts';
import { type ContactUpsert, upsertContacts } from '../contacts/contact-writes.ts';
import { fitOneStatement, AcceptanceTransaction } from './acceptance-transaction.ts';

/** Makes accepted emails durable, a group of calls at a time. */
export class AcceptanceStore {
  constructor(private readonly database: Pick<Database, 'pool' | 'clock' | 'onEventsDue'>) {}

  /**
   * Accepts a group of calls in one transaction: accepted emails are durable once this resolves, and refused ones leave no trace. The number of statements does
   * not grow with the number of calls.
   *
   * @param monthlyLimit for workspaces without a limit of their own; null: none
   * @param lockTimeoutMs how long to wait for each lock; default: as long as any statement may
   * @throws what `pg` throws; `faultOf` tells what that means for the group
   */
  async accept(
    calls: readonly AcceptableCall[],
    monthlyLimit: number | null,
    lockTimeoutMs?: number,
  ): Promise<CallOutcome[]> {
    const { pool, clock } = this.database;
    const groupOn = (connection: pg.Pool | pg.PoolClient): AcceptanceTransaction =>
      new AcceptanceTransaction(connection, calls, monthlyLimit, clock);
    // A single statement needs no explicit transaction.
    if (lockTimeoutMs === undefined && fitOneStatement(calls) && !calls.some(needsTransaction))
      return groupOn(pool).decide();
    return transactOn(
      this.database,
      async (client) => {
        if (lockTimeoutMs !== undefined) limitLockWaits(client, lockTimeoutMs);
        const group = groupOn(client);
        const outcomes = await group.decide();
        await upsertContacts(client, clock.nowMs(), group.accepted.flatMap(contactOf));
        const copies = group.accepted.flatMap(copyOf);
        if (copies.length > 0) await recordAudit(client, clock.nowMs(), ...copies);
        return outcomes;
      },
      'pipelined',
    );
  }

  /** Which of these emails have been durably accepted; needed when the answer to a COMMIT was lost. */
  async findAccepted(ids: readonly EmailId[]): Promise<Set<EmailId>> {
    const { rows } = await this.database.pool.query<{ id: string }>(FIND_EMAILS, [ids.map(uuidOf)]);
    return new Set(rows.map((row) => idFromUuid('trs', row.id)));
  }

  /** The answer stored under a key, if it is in use; also durable. */
  async findAnswer(workspaceId: WorkspaceId, key: string): Promise<KnownAnswer | undefined> {
    const json = JSON.stringify([{ n: 0, workspace_id: uuidOf(workspaceId), key }]);
    return (await this.database.pool.query<KnownAnswer>(FIND_ANSWER, [json])).rows[0];
  }
}

function needsTransaction({ emails, idempotency }: AcceptableCall): boolean {
  return (
    idempotency !== undefined ||
    emails.some(
      (email) => email.idempotency !== undefined || email.copyOf !== undefined || contactOf(email).length > 0,
    )
  );
}

function contactOf(email: AcceptableEmail): ContactUpsert[] {
  if (email.type !== 'raw' || email.contactProperties === undefined) return [];
  return [{ workspaceId: email.workspaceId, email: email.to.address, properties: email.contactProperties }];
}

/** The audit log entry for an email that somebody sends again. */
function copyOf({ id, workspaceId, copyOf: copied }: AcceptableEmail): AuditedChange[] {
  if (copied === undefined) return [];
  const { id: of, actor, reason } = copied;
  return [{ workspaceId, action: 'email.sent_again', actor, subjectId: id, detail: { copyOf: of, reason } }];
}

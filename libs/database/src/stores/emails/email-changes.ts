import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, LaneId } from '@posthorn/domain';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { CANCEL_EMAIL, RESCHEDULE_EMAIL } from '../../sql/email-changes.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { type AuditedChange, recordAudit } from '../workspaces/audit-log-store.ts';

/** Where an email waits after it was moved. */
interface MovedEmail {
  readonly laneId: LaneId;
  /** Whether it is due already, so that its lane must be rung. */
  readonly isDue: boolean;
}

/** When an email is to be sent instead, and who requested it. */
interface WantedMove {
  /** Null, or a time in the past by the database's clock: now. */
  readonly at: Date | null;
  /** How long after that time its idempotency keys are kept; the retention of a key is never shortened. */
  readonly keysKeptMs: number;
  /** The operator who moves it, for the audit log; undefined: an API key of its workspace does, which only the timeline shows. */
  readonly actor?: Actor | undefined;
}

/** Changes of emails that were not claimed yet; each is atomic. */
export class EmailChanges {
  constructor(private readonly database: Database) {}

  /** Moves an email, if this workspace has it, it is SCHEDULED, was never claimed, and was moved less than MAX_MOVES times. */
  reschedule(
    workspaceId: WorkspaceId,
    id: EmailId,
    { at, keysKeptMs, actor }: WantedMove,
  ): Promise<MovedEmail | undefined> {
    const values = [uuidOf(id), uuidOf(workspaceId), at, `${keysKeptMs} ms`];
    const detail = { sendAt: at?.toISOString() ?? null };
    const audited = actor && ({ workspaceId, action: 'email.moved', actor, subjectId: id, detail } as const);
    return this.change<MovedEmail>(id, RESCHEDULE_EMAIL, values, audited);
  }

  /**
   * Cancels an email, if this workspace has it, it is SCHEDULED and was never claimed. @returns whether it did
   *
   * @param actor the operator who does it, for the audit log; undefined: an API key of its workspace does, which only the timeline shows
   */
  async cancel(workspaceId: WorkspaceId, id: EmailId, actor?: Actor): Promise<boolean> {
    const values = [uuidOf(id), uuidOf(workspaceId)];
    const audited = actor && ({ workspaceId, action: 'email.cancelled', actor, subjectId: id } as const);
    return (await this.change(id, CANCEL_EMAIL, values, audited)) !== undefined;
  }

  /** A single statement, which returns a row when it has changed something; with an audit log entry, a transaction of two. */
  private change<Row extends object>(
    id: EmailId,
    sql: string,
    values: unknown[],
    audited: AuditedChange | undefined,
  ): Promise<Row | undefined> {
    const { pool, clock, changes } = this.database;
    return changes.run(id, async () => {
      if (audited === undefined) {
        const [changed] = (await pool.query<Row>(sql, values)).rows;
        if (changed === undefined) await awaitStandby(pool);
        return changed;
      }
      return transactOn(this.database, async (client) => {
        const [changed] = (await client.query<Row>(sql, values)).rows;
        if (changed === undefined) await awaitStandby(client);
        else await recordAudit(client, clock.nowMs(), audited);
        return changed;
      });
    });
  }
}

import type { WorkspaceId } from '@posthorn/kernel';
import { type Actor, emailLanes, type JsonObject } from '@posthorn/domain';
import type pg from 'pg';
import { addDueEventLanes, type WithEventLanes } from '../../transactions/due-event-lanes.ts';
import type { Database } from '../../connection/connection.ts';
import { FAIL_EMAILS } from '../../sql/eras.ts';
import { ARE_LEFT_BEFORE, LOCK_HELD_READY, lockDueBefore } from '../../sql/held-emails.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { idsOf } from '../retention/removed-rows.ts';

/** Emails of a paused workspace, which can be given up before it is resumed. */
export class HeldEmailStore {
  constructor(private readonly database: Database) {}

  /** By the clock of the database. */
  now(): Date {
    return this.database.clock.now();
  }

  /** Whether emails that were due before `moment` are left: being sent, or locked by somebody. */
  async areLeftBefore(workspaceId: WorkspaceId, moment: Date): Promise<boolean> {
    const values = [moment, emailLanes(workspaceId)];
    return (await this.database.pool.query<{ areLeft: boolean }>(ARE_LEFT_BEFORE, values)).rows[0]!.areLeft;
  }

  /** Marks the next emails that were due before `moment`, and are not being sent, as failed. @returns how many; 0: there are no more */
  failDueBefore(workspaceId: WorkspaceId, moment: Date, limit: number, detail: object): Promise<number> {
    return transactOn(this.database, async (client) => {
      // The ready ones last, because the others may become ready meanwhile.
      for (const lock of [lockDueBefore('waiting'), lockDueBefore('dead'), LOCK_HELD_READY]) {
        const ids = await idsOf(client, lock, [moment, limit, emailLanes(workspaceId)]);
        if (ids.length === 0) continue;
        await failEmails(client, ids, detail);
        return ids.length;
      }
      return 0;
    });
  }

  /** Records in the audit log of the workspace that its emails are given up before it is resumed. */
  recordBegun(workspaceId: WorkspaceId, actor: Actor, failBefore: string): Promise<void> {
    const detail: JsonObject = { failBefore, begun: true };
    const change = { workspaceId, subjectId: workspaceId, actor, detail };
    return transactOn(this.database, (client) =>
      recordAudit(client, this.database.clock.nowMs(), { ...change, action: 'workspace.resumed' }),
    );
  }
}

/** Marks emails as failed, whose outbox rows must be locked. */
export async function failEmails(
  client: pg.ClientBase,
  ids: readonly string[],
  detail: object,
): Promise<void> {
  const { rows } = await client.query<WithEventLanes>(FAIL_EMAILS, [ids, detail]);
  addDueEventLanes(client, rows[0]!.eventLanes);
}

import type { WorkspaceId } from '@posthorn/kernel';
import { type Actor, emailLanes, type JsonObject, type LaneId } from '@posthorn/domain';
import { addDueEventLanes } from '../due-event-lanes.ts';
import type { Database } from '../connection.ts';
import { FAIL_EMAILS } from '../sql/eras.ts';
import { COUNT_HELD_LEASED, LOCK_HELD_DEAD, LOCK_HELD_READY, LOCK_HELD_WAITING } from '../sql/held-emails.ts';
import { transactOn } from '../transaction.ts';
import { recordAudit } from './audit-log-store.ts';

/** Emails of a paused workspace, which can be given up before it is resumed. */
export class HeldEmailStore {
  constructor(private readonly database: Database) {}

  /** By the clock of the database. */
  now(): Date {
    return this.database.clock.now();
  }

  /** How many emails that were due before `moment` are being sent. */
  async countLeasedBefore(workspaceId: WorkspaceId, moment: Date): Promise<number> {
    const values = [emailLanes(workspaceId), moment];
    return (await this.database.pool.query<{ leased: number }>(COUNT_HELD_LEASED, values)).rows[0]!.leased;
  }

  /** Marks the next emails that were due before `moment`, and are not being sent, as failed. @returns how many; 0: there are no more */
  failDueBefore(workspaceId: WorkspaceId, moment: Date, limit: number, detail: object): Promise<number> {
    return transactOn(this.database, async (client) => {
      for (const lock of [LOCK_HELD_READY, LOCK_HELD_WAITING, LOCK_HELD_DEAD]) {
        const { rows } = await client.query<{ id: string }>(lock, [emailLanes(workspaceId), moment, limit]);
        if (rows.length === 0) continue;
        const values = [rows.map(({ id }) => id), detail];
        const failed = await client.query<{ eventLanes: LaneId[] | null }>(FAIL_EMAILS, values);
        addDueEventLanes(client, failed.rows[0]!.eventLanes);
        return rows.length;
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

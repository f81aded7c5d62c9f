import type { WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  EVERY_LANE,
  type JsonObject,
  type LaneId,
  nowLane,
  type Page,
  pageOf,
  type PageRequest,
  pausableLanes,
  workspaceOfLane,
} from '@posthorn/domain';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { changeWorkspace, transact, type Transaction } from '../../transactions/transaction.ts';
import { type AuditedChange, ofSystem, recordAudit } from '../workspaces/audit-log-store.ts';
import { isBeingDeleted } from '../workspaces/begun-deletions.ts';
import type { OutboxQueue } from './claim.ts';

interface LaneOfQueue {
  readonly queue: OutboxQueue;
  readonly laneId: LaneId;
}

export interface PausedLane extends LaneOfQueue {
  readonly reason: string;
  readonly pausedAt: Date;
}

/** A workspace whose emails are paused. */
export interface PausedWorkspace {
  readonly id: WorkspaceId;
  readonly reason: string;
  readonly pausedAt: Date;
}

/** Everything is paused because the database was restored. */
class WasRestored extends Error {}

/** Paused lanes: their rows are kept, and nobody claims them. */
export class PausedLaneStore {
  constructor(private readonly database: Database) {}

  /** Pauses whole queues, and records it in the system's audit log; those paused already keep their first reason. */
  pauseQueues(queues: readonly OutboxQueue[], actor: Actor, reason: string): Promise<void> {
    const detail = { queues: [...queues], reason };
    return transact(this.database, (transaction) =>
      this.pause(transaction, wholeOf(queues), reason, ofSystem('sending.paused', actor, detail)),
    );
  }

  /**
   * Resumes these queues, and records it in the system's audit log.
   *
   * @returns how many of them were paused; undefined: everything is paused because the database was restored, so they stay paused
   */
  async resumeQueues(
    queues: readonly OutboxQueue[],
    actor: Actor,
    evenIfRestored: boolean,
  ): Promise<number | undefined> {
    const change = ofSystem('sending.resumed', actor, { queues: [...queues] });
    try {
      return await transact(this.database, async (transaction) => {
        const resumed = await this.resume(transaction, wholeOf(queues), change);
        // Looked up last: until these rows are locked, somebody may find that the database was restored, and pause it for that reason.
        if (!evenIfRestored && (await isHeld(transaction))) throw new WasRestored();
        return resumed;
      });
    } catch (error) {
      if (error instanceof WasRestored) return undefined;
      throw error;
    }
  }

  /** Pauses the emails of a workspace, and records it in its audit log; lanes paused already keep their first reason. */
  pauseWorkspace(workspaceId: WorkspaceId, actor: Actor, reason: string): Promise<void> {
    const change = { workspaceId, subjectId: workspaceId, actor, detail: { reason } };
    return changeWorkspace(this.database, workspaceId, (transaction) =>
      this.pause(transaction, pausableLanesOf(workspaceId), reason, {
        ...change,
        action: 'workspace.paused',
      }),
    );
  }

  /**
   * Resumes the emails of a workspace, and records it in its audit log.
   *
   * @param detail what came of a resumption whose beginning is recorded; recorded even if nothing is paused any more
   * @returns how many of its lanes were paused; undefined: its deletion has begun, so they stay paused
   */
  resumeWorkspace(workspaceId: WorkspaceId, actor: Actor, detail?: JsonObject): Promise<number | undefined> {
    const change = { workspaceId, subjectId: workspaceId, actor, ...(detail && { detail }) };
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      if (await isBeingDeleted(transaction, workspaceId)) return undefined;
      const resumed = { ...change, action: 'workspace.resumed' } as const;
      return this.resume(transaction, pausableLanesOf(workspaceId), resumed, detail !== undefined);
    });
  }

  /**
   * What operators have paused, the longest first: whole queues, and the emails of workspaces. The lanes of single webhooks that are paused
   * or disabled are left out.
   */
  async list(): Promise<PausedLane[]> {
    return this.lanesAmong([{ queue: 'email' }, ...wholeOf(['event', 'webhook'])]);
  }

  /** Which of these queues operators have paused as a whole, the longest first. */
  async listWhole(queues: readonly OutboxQueue[]): Promise<PausedLane[]> {
    return this.lanesAmong(wholeOf(queues));
  }

  /** A page of the workspaces whose emails operators have paused, the newest workspace first. */
  async pageWorkspaces({ limit, startAt }: PageRequest<WorkspaceId>): Promise<Page<PausedWorkspace>> {
    const rows = await this.database.prisma.pausedLane.findMany({
      // The lanes of a workspace are paused together, so one of them stands for it.
      where: {
        queue: 'email',
        laneId: { endsWith: '.now', ...(startAt && { lte: nowLane(startAt) }) },
      },
      orderBy: { laneId: 'desc' },
      take: limit + 1,
    });
    const paused = rows.map(({ laneId, ...row }) => ({ ...row, id: workspaceOfLane(laneId as LaneId)! }));
    return pageOf(paused, limit);
  }

  /** The pause of the emails of a workspace, apart from that of all emails. */
  async findOf(workspaceId: WorkspaceId): Promise<PausedLane | undefined> {
    return (await this.lanesAmong(pausableLanesOf(workspaceId)))[0];
  }

  /** The pause that applies to the emails of a workspace, of all emails or its own; undefined: they are not paused. */
  async pauseOf(workspaceId: WorkspaceId): Promise<PausedLane | undefined> {
    return (await this.lanesAmong([...wholeOf(['email']), ...pausableLanesOf(workspaceId)]))[0];
  }

  private async lanesAmong(
    lanes: (Partial<LaneOfQueue> & Pick<LaneOfQueue, 'queue'>)[],
  ): Promise<PausedLane[]> {
    const rows = await this.database.prisma.pausedLane.findMany({
      where: { OR: lanes },
      orderBy: { pausedAt: 'asc' },
    });
    return rows.map((row) => ({ ...row, laneId: row.laneId as LaneId }));
  }

  private async pause(
    transaction: Transaction,
    lanes: readonly LaneOfQueue[],
    reason: string,
    change: AuditedChange,
  ): Promise<void> {
    const data = lanes.map((lane) => ({ ...lane, reason }));
    const { count } = await transaction.pausedLane.createMany({ data, skipDuplicates: true });
    if (count > 0) await recordAudit(transaction, this.database.clock.nowMs(), change);
    else await awaitStandby(transaction);
  }

  private async resume(
    transaction: Transaction,
    lanes: readonly LaneOfQueue[],
    change: AuditedChange,
    hasBegun = false,
  ): Promise<number> {
    const { count } = await transaction.pausedLane.deleteMany({ where: { OR: [...lanes] } });
    if (count > 0 || hasBegun) await recordAudit(transaction, this.database.clock.nowMs(), change);
    else await awaitStandby(transaction);
    return count;
  }
}

async function isHeld(transaction: Transaction): Promise<boolean> {
  return (await transaction.eventEra.findFirst({ where: { releasedAt: null } })) !== null;
}

function pausableLanesOf(workspaceId: WorkspaceId): LaneOfQueue[] {
  return pausableLanes(workspaceId).map((laneId) => ({ queue: 'email', laneId }));
}

function wholeOf(queues: readonly OutboxQueue[]): LaneOfQueue[] {
  return queues.map((queue) => ({ queue, laneId: EVERY_LANE }));
}

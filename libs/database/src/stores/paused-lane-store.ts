import type { WorkspaceId } from '@posthorn/kernel';
import { type Actor, bulkLane, type LaneId, nowLane } from '@posthorn/domain';
import type { Database } from '../connection.ts';
import { changeWorkspace } from '../transaction.ts';
import { recordAudit } from './audit-log-store.ts';
import type { OutboxQueue } from './claim.ts';

export interface PausedLane {
  readonly queue: OutboxQueue;
  readonly laneId: LaneId;
  readonly reason: string;
  readonly pausedAt: Date;
}

/** The lanes that are held back: their rows stay, nobody claims them. */
export class PausedLaneStore {
  constructor(private readonly database: Database) {}

  /** Holds the lanes back; one that is already keeps its first reason. */
  async pause(queue: OutboxQueue, laneIds: readonly LaneId[], reason: string): Promise<void> {
    await this.database.prisma.pausedLane.createMany({
      data: laneIds.map((laneId) => ({ queue, laneId, reason })),
      skipDuplicates: true,
    });
  }

  /** Lets the lanes go; says how many of them were held back. */
  async resume(queue: OutboxQueue, laneIds: readonly LaneId[]): Promise<number> {
    const { count } = await this.database.prisma.pausedLane.deleteMany({
      where: { queue, laneId: { in: [...laneIds] } },
    });
    return count;
  }

  /** Holds the emails of a workspace back, and tells its audit log; one that is already keeps its first reason. */
  pauseWorkspace(workspaceId: WorkspaceId, actor: Actor, reason: string): Promise<void> {
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const data = emailLanesOf(workspaceId).map((laneId) => ({ queue: 'email' as const, laneId, reason }));
      const { count } = await transaction.pausedLane.createMany({ data, skipDuplicates: true });
      if (count === 0) return;
      await recordAudit(transaction, this.database.clock.nowMs(), {
        ...{ workspaceId, subjectId: workspaceId, actor },
        ...{ action: 'workspace.paused', detail: { reason } },
      });
    });
  }

  /** Lets the emails of a workspace go, and tells its audit log; says how many of its lanes were held back. */
  resumeWorkspace(workspaceId: WorkspaceId, actor: Actor): Promise<number> {
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const { count } = await transaction.pausedLane.deleteMany({
        where: { queue: 'email', laneId: { in: emailLanesOf(workspaceId) } },
      });
      if (count > 0)
        await recordAudit(transaction, this.database.clock.nowMs(), {
          ...{ workspaceId, subjectId: workspaceId, actor },
          action: 'workspace.resumed',
        });
      return count;
    });
  }

  async list(): Promise<PausedLane[]> {
    const rows = await this.database.prisma.pausedLane.findMany({ orderBy: { pausedAt: 'asc' } });
    return rows.map((row) => ({ ...row, laneId: row.laneId as LaneId }));
  }
}

function emailLanesOf(workspaceId: WorkspaceId): LaneId[] {
  return [nowLane(workspaceId), bulkLane(workspaceId)];
}

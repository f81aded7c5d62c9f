import type { LaneId } from '@posthorn/domain';
import type { Database } from '../connection.ts';
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

  async list(): Promise<PausedLane[]> {
    const rows = await this.database.prisma.pausedLane.findMany({ orderBy: { pausedAt: 'asc' } });
    return rows.map((row) => ({ ...row, laneId: row.laneId as LaneId }));
  }
}

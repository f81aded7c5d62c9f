import { sleep } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import type { Turn } from './jobs.ts';
import { type LineName, LINES } from './lines.ts';

/** How many jobs are added in one go: the objects that BullMQ makes for a thousand live long enough to stay until the next collection of the whole heap. */
const RINGS_PER_FLUSH = 200;
/** The first ring leaves at once; under load, those within this time after it leave together: each flush costs the event loop more than an acceptance does. */
const PAUSE_MS = 10;

export interface LaneRingsOptions extends RedisOptions {
  /** Which line the lanes are served in. */
  readonly line: LineName;
  /** Rows a turn serves; a ring for more of them rings several slots. */
  readonly rowsPerTurn: number;
  readonly onError: (error: Error) => void;
}

/**
 * Rings lanes: "there may be due work". A lane has at most one waiting and one running turn per slot; a ring during a turn
 * is kept and becomes the next turn. Ringing never waits and never fails: the clock makes up for rings that are lost with Redis.
 */
export class LaneRings {
  private readonly producer: JobProducer;
  private waiting = new Map<string, Turn>();
  private flushing: Promise<void> | undefined;

  constructor(private readonly options: LaneRingsOptions) {
    this.producer = new JobProducer(LINES[options.line].queue, options, options.onError);
  }

  /** Rings for `rows` new rows of a lane. */
  ring(laneId: LaneId, rows = 1): void {
    const turns = Math.max(1, Math.ceil(rows / this.options.rowsPerTurn));
    this.ringSlots(laneId, Math.min(LINES[this.options.line].slots, turns));
  }

  /** Rings all slots of a lane: it has a backlog. */
  ringAll(laneId: LaneId): void {
    this.ringSlots(laneId, LINES[this.options.line].slots);
  }

  /** Rings one slot: that of a turn which leaves work behind, or one of the clock's. */
  ringSlot(laneId: LaneId, slot: string): void {
    this.waiting.set(`${laneId}-${slot}`, { v: 1, laneId, slot });
    // One flush at a time: what is rung meanwhile forms the next, so that what waits is bounded by the lanes.
    this.flushing ??= this.flush();
  }

  /** Resolves when what was rung before is in Redis, or given up. */
  async settled(): Promise<void> {
    await this.flushing;
  }

  /** Rejects when Redis does not answer. */
  ping(): Promise<void> {
    return this.producer.ping();
  }

  async close(): Promise<void> {
    await this.flushing;
    await this.producer.close();
  }

  private ringSlots(laneId: LaneId, slots: number): void {
    for (let slot = 0; slot < slots; slot += 1) this.ringSlot(laneId, `${slot}`);
  }

  private async flush(): Promise<void> {
    await Promise.resolve();
    while (this.waiting.size > 0) {
      const rings = [...this.waiting].slice(0, RINGS_PER_FLUSH);
      for (const [key] of rings) this.waiting.delete(key);
      if (this.producer.isConnected) await this.add(rings);
      await sleep(PAUSE_MS);
    }
    // In the same tick as the look at what waits: a ring that comes now begins a flush of its own.
    this.flushing = undefined;
  }

  private async add(rings: [string, Turn][]): Promise<void> {
    try {
      await this.producer.add(
        rings.map(([key, data]) => ({
          name: LINES[this.options.line].job,
          data,
          opts: {
            deduplication: { id: key, keepLastIfActive: true },
            removeOnComplete: true,
            removeOnFail: { count: 100 },
          },
        })),
      );
    } catch (error) {
      this.options.onError(error as Error);
    }
  }
}

/** Opens the rings of several lines, which differ in nothing else. */
export function openRings<Line extends LineName>(
  lines: readonly Line[],
  options: Omit<LaneRingsOptions, 'line'>,
): Record<Line, LaneRings> {
  const opened = lines.map((line) => [line, new LaneRings({ ...options, line })]);
  return Object.fromEntries(opened) as Record<Line, LaneRings>;
}

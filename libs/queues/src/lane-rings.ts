import { sleep } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import type { Turn } from './jobs.ts';
import { errorForLog } from './redis-unusable.ts';
import { type TurnQueueName, TURN_QUEUES } from './turn-queues.ts';

/** Jobs per flush: the objects that BullMQ allocates for a thousand would live long enough to be promoted and stay until the next full garbage collection. */
const RINGS_PER_FLUSH = 200;
/** Pause between flushes, which batches rings under load (the first ring leaves at once): a flush costs the event loop more than accepting an email. */
const PAUSE_MS = 10;

interface LaneRingsOptions extends RedisOptions {
  /** The queue in which the lanes are served. */
  readonly turnQueue: TurnQueueName;
  /** How many rows a turn serves; a ring for more rows rings several slots. */
  readonly rowsPerTurn: number;
  readonly onError: (error: Error) => void;
}

/**
 * Wakes up lanes that may have due work, by adding BullMQ jobs. A lane has at most one waiting and one running turn per slot; a ring during a turn is kept
 * and becomes the next turn (BullMQ's deduplication). Ringing never waits and never fails: the clock makes up for rings that are lost with Redis.
 */
export class LaneRings {
  private readonly producer: JobProducer;
  private readonly waiting = new Map<string, Turn>();
  private flushing: Promise<void> | undefined;

  constructor(private readonly options: LaneRingsOptions) {
    this.producer = new JobProducer(TURN_QUEUES[options.turnQueue].queue, options, options.onError);
  }

  /** Rings for `rows` new rows of a lane. */
  ring(laneId: LaneId, rows = 1): void {
    const turns = Math.max(1, Math.ceil(rows / this.options.rowsPerTurn));
    this.ringSlots(laneId, Math.min(TURN_QUEUES[this.options.turnQueue].slots, turns));
  }

  /** Rings all slots of a lane: it has a backlog. */
  ringAll(laneId: LaneId): void {
    this.ringSlots(laneId, TURN_QUEUES[this.options.turnQueue].slots);
  }

  /** Rings one slot: that of a turn that leaves work behind, or one of the clock's own. */
  ringSlot(laneId: LaneId, slot: string): void {
    this.waiting.set(`${laneId}-${slot}`, { v: 1, laneId, slot });
    // One flush at a time: rings that come meanwhile are deduplicated and form the next flush, so the backlog is bounded by the number of lanes.
    this.flushing ??= this.flush();
  }

  /** Resolves when all earlier rings are in Redis, or lost. */
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
      // Not by a copy of all: after an outage, those of tens of thousands of lanes may wait.
      const rings: [string, Turn][] = [];
      for (const ring of this.waiting) if (rings.push(ring) === RINGS_PER_FLUSH) break;
      for (const [key] of rings) this.waiting.delete(key);
      if (this.producer.isConnected) await this.add(rings);
      await sleep(PAUSE_MS);
    }
    // In the same tick as the check above, so that a ring that comes now starts a new flush.
    this.flushing = undefined;
  }

  private async add(rings: [string, Turn][]): Promise<void> {
    try {
      await this.producer.add(
        rings.map(([key, data]) => ({
          name: TURN_QUEUES[this.options.turnQueue].job,
          data,
          opts: { deduplication: { id: key, keepLastIfActive: true } },
        })),
      );
    } catch (error) {
      this.options.onError(errorForLog(error));
    }
  }
}

/** Opens a {@link LaneRings} for each of several turn queues. */
export function openRings<TurnQueue extends TurnQueueName>(
  turnQueues: readonly TurnQueue[],
  options: Omit<LaneRingsOptions, 'turnQueue'>,
): Record<TurnQueue, LaneRings> {
  const opened = turnQueues.map((turnQueue) => [turnQueue, new LaneRings({ ...options, turnQueue })]);
  return Object.fromEntries(opened) as Record<TurnQueue, LaneRings>;
}

/** Closes what {@link openRings} has opened. */
export async function closeRings(rings: Readonly<Record<string, LaneRings>>): Promise<void> {
  await Promise.all(Object.values(rings).map((ring) => ring.close()));
}

import type { Queue } from 'bullmq';
import type { RedisOptions } from './connections.ts';
import { freeHeldLanes } from './held-lanes.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES, type QueueName } from './jobs.ts';
import { deleteLostJobs } from './lost-jobs.ts';
import { deleteOverwritten } from './overwritten-queue.ts';
import { errorForLog } from './redis-unusable.ts';
import { shortenLocks } from './shorten-locks.ts';
import { deleteStuckJobs } from './stuck-jobs.ts';

/** How often lost jobs are searched for while lanes have work. */
const SEARCH_EVERY_MS = 60_000;
/** The pause after a search is at least this many times its duration. */
const SEARCH_PAUSE_FACTOR = 100;

interface QueueRepairOptions extends RedisOptions {
  /** Default: 60 s. */
  readonly searchEveryMs?: number;
  readonly onResumed: (queue: QueueName) => void;
  /** Called when a queue was deleted because something else had overwritten a part of it. */
  readonly onReset: (queue: QueueName) => void;
  /** Called with how many jobs were deleted that would never have been processed. */
  readonly onLost: (queue: QueueName, jobs: number) => void;
  readonly onError: (error: Error) => void;
}

/** Repairs damage that was done to queues directly in Redis, bypassing BullMQ: by people, evictions, or other programs. */
export class QueueRepair {
  private readonly producers: readonly JobProducer[];
  private readonly searchEveryMs: number;
  private repairing: Promise<void> | undefined;
  /** When lost jobs are searched for next. */
  private nextSearchAt: number;

  constructor(private readonly options: QueueRepairOptions) {
    const { onError, searchEveryMs = SEARCH_EVERY_MS } = options;
    this.producers = Object.values(QUEUES).map((name) => new JobProducer(name, options, onError));
    this.searchEveryMs = searchEveryMs;
    this.nextSearchAt = performance.now() + searchEveryMs;
  }

  /**
   * Repairs all queues; never rejects, and does nothing while Redis is down.
   *
   * @param lanes how many lanes have due work: if none has, none can be waiting for a lost job
   */
  async repair(lanes: number): Promise<void> {
    if (lanes === 0) this.nextSearchAt = performance.now() + this.searchEveryMs;
    await (this.repairing ??= this.repairAll().finally(() => (this.repairing = undefined)));
  }

  async close(): Promise<void> {
    await this.repairing;
    await Promise.all(this.producers.map((producer) => producer.close()));
  }

  private async repairAll(): Promise<void> {
    try {
      for (const producer of this.producers) if (producer.isConnected) await this.repairQueue(producer);
      const startedAt = performance.now();
      if (startedAt < this.nextSearchAt) return;
      for (const producer of this.producers) if (producer.isConnected) await this.searchQueue(producer);
      const endedAt = performance.now();
      this.nextSearchAt = endedAt + Math.max(this.searchEveryMs, (endedAt - startedAt) * SEARCH_PAUSE_FACTOR);
    } catch (error) {
      this.options.onError(errorForLog(error));
    }
  }

  private async repairQueue(producer: JobProducer): Promise<void> {
    const { prefix, onReset, onResumed, onError } = this.options;
    const { connection, queueName } = producer;
    if (await deleteOverwritten(connection, prefix, queueName)) onReset(queueName);
    const queue = await producer.queue();
    if (await resume(queue)) onResumed(queueName);
    await shortenLocks(connection, queue);
    const stuck = await deleteStuckJobs(connection, queue);
    if (stuck > 0) onError(new Error(`stuck jobs of ${queueName} were deleted: ${stuck}`));
  }

  /** Searches a queue for what blocks lanes for ever, which takes time in proportion to its length. */
  private async searchQueue(producer: JobProducer): Promise<void> {
    const { onLost, onError } = this.options;
    const { connection, queueName } = producer;
    const queue = await producer.queue();
    const lost = await deleteLostJobs(connection, queue);
    if (lost > 0) onLost(queueName, lost);
    const freed = await freeHeldLanes(connection, queue);
    if (freed > 0)
      onError(new Error(`lanes of ${queueName} were held by no job and are free again: ${freed}`));
  }
}

/**
 * Resumes a queue that somebody has paused or throttled in BullMQ: its rings would not be served, and idle workers would look stuck. Lanes are paused by
 * a row in the database instead, where everybody can see it.
 *
 * @returns whether it was
 */
async function resume(queue: Queue): Promise<boolean> {
  const isPaused = await queue.isPaused();
  if (isPaused) await queue.resume();
  const limits = (await queue.removeGlobalConcurrency()) + (await queue.removeGlobalRateLimit());
  return isPaused || limits > 0;
}

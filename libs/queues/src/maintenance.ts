import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { type JobName, QUEUES } from './jobs.ts';

export interface RegularJob {
  readonly name: JobName;
  readonly everyMs: number;
}

/** How far the clocks of two machines may be apart without jobs being put back again and again because of it. */
const CLOCKS_APART_MS = 60_000;

/** Keeps the regular jobs in Redis: what is missing there, because Redis was emptied or replaced, or never comes, is put back. */
export class MaintenanceSchedule {
  private readonly producer: JobProducer;
  private putting: Promise<void> | undefined;

  constructor(
    redis: RedisOptions,
    private readonly jobs: readonly RegularJob[],
    private readonly onError: (error: Error) => void,
  ) {
    this.producer = new JobProducer(QUEUES.maintenance, redis, onError);
  }

  /** Puts back what is missing; never rejects, and does nothing while Redis is away. */
  async putBack(): Promise<void> {
    if (!this.producer.isConnected) return;
    await (this.putting ??= this.putBackMissing().finally(() => (this.putting = undefined)));
  }

  async close(): Promise<void> {
    await this.putting;
    await this.producer.close();
  }

  private async putBackMissing(): Promise<void> {
    try {
      const queue = await this.producer.queue();
      for (const { name, everyMs } of this.jobs) {
        const scheduler = await queue.getJobScheduler(name);
        if (scheduler?.every === everyMs && !isLost(scheduler.next, everyMs)) continue;
        // One that is there keeps its time when it is written again.
        if (scheduler !== undefined) await queue.removeJobScheduler(name);
        const opts = { removeOnComplete: true, removeOnFail: { count: 20 } };
        await queue.upsertJobScheduler(name, { every: everyMs }, { name, data: { v: 1 }, opts });
      }
    } catch (error) {
      this.onError(error as Error);
    }
  }
}

/**
 * Whether a job will never come, or not for long: its time is set by the clock of a worker, which may have been wrong for a moment; and each job makes
 * the next one, so a job that Redis has lost is the last, though its schedule is still there. (One that only waits for a worker is then done twice.)
 */
function isLost(next: number | undefined, everyMs: number): boolean {
  return next !== undefined && Math.abs(next - Date.now()) > 2 * everyMs + CLOCKS_APART_MS;
}

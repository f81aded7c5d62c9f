import { isDeepStrictEqual } from 'node:util';
import type { JobSchedulerJson, Queue } from 'bullmq';
import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { type JobName, QUEUES } from './jobs.ts';

export interface RegularJob {
  readonly name: JobName;
  readonly everyMs: number;
}

/** How far the clocks of two machines may be apart without jobs being put back again and again because of it. */
const CLOCKS_APART_MS = 60_000;

/** What all regular jobs carry. */
const DATA = { v: 1 } as const;

/** Keeps the regular jobs in Redis: what is missing there, because Redis was emptied or replaced, or never comes, is put back. */
export class MaintenanceSchedule {
  private readonly producer: JobProducer;
  private putting: Promise<void> | undefined;
  /** For when each job was set when it was last seen, and since when it has been. */
  private readonly seen = new Map<JobName, { readonly next: number; readonly sinceMs: number }>();

  /** @param nowMs a monotonic clock, in milliseconds */
  constructor(
    redis: RedisOptions,
    private readonly jobs: readonly RegularJob[],
    private readonly onError: (error: Error) => void,
    private readonly nowMs = (): number => performance.now(),
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
      for (const job of this.jobs) await this.putBackOne(queue, job);
    } catch (error) {
      this.onError(error as Error);
    }
  }

  private async putBackOne(queue: Queue, job: RegularJob): Promise<void> {
    const { name, everyMs } = job;
    try {
      const scheduler = await queue.getJobScheduler(name);
      if (isAsWritten(scheduler, job) && !this.isLost(job, scheduler?.next)) return;
      // One that is there keeps its time when it is written again.
      if (scheduler !== undefined) await queue.removeJobScheduler(name);
      const opts = { removeOnComplete: true, removeOnFail: { count: 20 } };
      await queue.upsertJobScheduler(name, { every: everyMs }, { name, data: DATA, opts });
    } catch (error) {
      // Something else was written over its schedule, or into it: it is put back at the next look.
      if (!isUnreadable(error as Error)) throw error;
      await this.producer.connection.unlink(queue.toKey(`repeat:${name}`));
      this.onError(error as Error);
    }
  }

  /**
   * Whether a job will never come, or not for long. Each job makes the next one, so a job that Redis has lost is the last, though its schedule is still
   * there: its time passes. (One that only waits for a worker is then done twice.) The time is set by the clock of whoever did the one before, which may
   * have been wrong for a moment: then it lies far ahead and stays there. If it moves on, somebody does the job by such a clock, and whoever put it back at
   * each look would have it done at each look.
   */
  private isLost({ name, everyMs }: RegularJob, next: number | undefined): boolean {
    if (next === undefined) return false;
    const nowMs = this.nowMs();
    const before = this.seen.get(name);
    const sinceMs = before?.next === next ? before.sinceMs : nowMs;
    this.seen.set(name, { next, sinceMs });
    const patienceMs = 2 * everyMs + CLOCKS_APART_MS;
    const aheadMs = next - Date.now();
    return aheadMs < -patienceMs || (aheadMs > patienceMs && nowMs - sinceMs > patienceMs);
  }
}

/** Whether a schedule makes the job that it is for. */
function isAsWritten(scheduler: JobSchedulerJson | undefined, { name, everyMs }: RegularJob): boolean {
  const { every, name: made, template } = scheduler ?? {};
  return every === everyMs && made === name && isDeepStrictEqual(template?.data, DATA);
}

/** Whether it is what BullMQ comes to with a schedule that is of another type, or holds what is no JSON or another kind of value. */
function isUnreadable(error: Error): boolean {
  return error instanceof SyntaxError || error instanceof TypeError || error.message.startsWith('WRONGTYPE');
}

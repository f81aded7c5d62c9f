import type { JobSchedulerJson, Queue } from 'bullmq';
import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES, type RegularJobName } from './jobs.ts';
import { errorForLog } from './redis-unusable.ts';

/** Tolerated clock skew between two machines; without a tolerance, jobs would be restored again and again. */
const MAX_CLOCK_SKEW_MS = 60_000;

/** After how long a schedule that this release does not know is removed: much longer than two releases run beside each other in an update. */
const REMOVED_AFTER_MS = 10 * 60_000;
/** How many schedules are looked at for this, since something else may have written any number. */
const MAX_SCHEDULES = 1_000;

/** The payload of all regular jobs. */
const DATA = { v: 1 } as const;

/**
 * Keeps the schedules of the regular jobs in Redis: restores those that are missing, because Redis was emptied or replaced, or that no longer fire; removes
 * those of jobs that only another release has.
 */
export class MaintenanceSchedule {
  private readonly producer: JobProducer;
  private restoring: Promise<void> | undefined;
  /** The next run of each job when it was last seen, and since when that has been the same. */
  private readonly seen = new Map<RegularJobName, { readonly next: number; readonly sinceMs: number }>();
  /** When each job was last given its interval instead of another one. */
  private readonly changed = new Map<RegularJobName, number>();
  /** Since when each schedule that this release does not know has been there. */
  private unknown: ReadonlyMap<string, number> = new Map();

  /**
   * @param intervalsMs how often each job runs
   * @param nowMs a monotonic clock, in milliseconds
   */
  constructor(
    redis: RedisOptions,
    private readonly intervalsMs: Readonly<Partial<Record<RegularJobName, number>>>,
    private readonly onError: (error: Error) => void,
    private readonly nowMs = (): number => performance.now(),
  ) {
    this.producer = new JobProducer(QUEUES.maintenance, redis, onError);
  }

  /** Restores what is missing; never rejects, and does nothing while Redis is down. */
  async restore(): Promise<void> {
    if (!this.producer.isConnected) return;
    await (this.restoring ??= this.restoreMissing().finally(() => (this.restoring = undefined)));
  }

  async close(): Promise<void> {
    await this.restoring;
    await this.producer.close();
  }

  private async restoreMissing(): Promise<void> {
    try {
      const queue = await this.producer.queue();
      for (const [name, everyMs] of Object.entries(this.intervalsMs))
        await this.restoreOne(queue, name as RegularJobName, everyMs);
      await this.removeUnknown(queue);
    } catch (error) {
      this.onError(errorForLog(error));
    }
  }

  private async restoreOne(queue: Queue, name: RegularJobName, everyMs: number): Promise<void> {
    try {
      const scheduler = await queue.getJobScheduler(name);
      if (scheduler?.name === name && !this.mustReplace(scheduler, name, everyMs)) return;
      // Upserting an existing schedule would keep its next run.
      if (scheduler !== undefined) await queue.removeJobScheduler(name);
      await queue.upsertJobScheduler(name, { every: everyMs }, { name, data: DATA });
    } catch (error) {
      // Something else has overwritten the schedule: delete it, so that the next call restores it.
      if (!isUnreadable(error as Error)) throw error;
      await this.producer.connection.unlink(queue.toKey(`repeat:${name}`));
      this.onError(error as Error);
    }
  }

  /** Not at once: a scheduler of the release that has the job would add it again each time, and each time it would run. */
  private async removeUnknown(queue: Queue): Promise<void> {
    const nowMs = this.nowMs();
    const names = await this.producer.connection.zrange(queue.toKey('repeat'), 0, String(MAX_SCHEDULES - 1));
    const unknown = new Map<string, number>();
    for (const name of names) {
      if (Object.hasOwn(this.intervalsMs, name)) continue;
      const sinceMs = this.unknown.get(name) ?? nowMs;
      if (nowMs - sinceMs > REMOVED_AFTER_MS) await queue.removeJobScheduler(name);
      else unknown.set(name, sinceMs);
    }
    this.unknown = unknown;
  }

  /**
   * Whether a schedule has another interval, or no longer fires. Replacing it runs the job at once, and schedulers of two releases can have different
   * intervals: so each changes an interval only once in the time of its own.
   */
  private mustReplace({ every, next }: JobSchedulerJson, name: RegularJobName, everyMs: number): boolean {
    if (every === everyMs) return this.isLost(name, everyMs, next);
    const nowMs = this.nowMs();
    const changedMs = this.changed.get(name);
    if (changedMs !== undefined && nowMs - changedMs < everyMs) return false;
    this.changed.set(name, nowMs);
    return true;
  }

  /**
   * Whether a schedule has stopped firing, or will not fire for long. In BullMQ each run creates the next one. So
   * - if Redis has lost a job, its schedule stays but its next run lies in the past (or the job only waits for a worker; then it runs twice);
   * - if the clock of the previous runner was wrong, the next run lies far in the future, and stays there. If it moves on, somebody keeps running the
   *   job by a wrong clock; restoring it each time would run it each time.
   */
  private isLost(name: RegularJobName, everyMs: number, next: number | undefined): boolean {
    if (next === undefined) return false;
    const nowMs = this.nowMs();
    const before = this.seen.get(name);
    const sinceMs = before?.next === next ? before.sinceMs : nowMs;
    this.seen.set(name, { next, sinceMs });
    const patienceMs = 2 * everyMs + MAX_CLOCK_SKEW_MS;
    const aheadMs = next - Date.now();
    return aheadMs < -patienceMs || (aheadMs > patienceMs && nowMs - sinceMs > patienceMs);
  }
}

/** Whether this is an error that BullMQ gives for a schedule whose key has another type, or whose fields are not the JSON that it expects. */
function isUnreadable(error: Error): boolean {
  return error instanceof SyntaxError || error instanceof TypeError || error.message.startsWith('WRONGTYPE');
}

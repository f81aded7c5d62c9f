import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { type JobName, QUEUES } from './jobs.ts';

export interface RegularJob {
  readonly name: JobName;
  readonly everyMs: number;
}

/** Keeps the regular jobs in Redis: what is missing there, because Redis was emptied or replaced, is put back. */
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
        if (scheduler !== undefined && scheduler.every === everyMs) continue;
        const opts = { removeOnComplete: true, removeOnFail: { count: 20 } };
        await queue.upsertJobScheduler(name, { every: everyMs }, { name, data: { v: 1 }, opts });
      }
    } catch (error) {
      this.onError(error as Error);
    }
  }
}

import { Queue } from 'bullmq';
import { connectProducer, type Redis, type RedisOptions } from './connections.ts';
import { type JobName, QUEUES } from './jobs.ts';

export interface RegularJob {
  readonly name: JobName;
  readonly everyMs: number;
}

/** Keeps the regular jobs in Redis: what is missing there, because Redis was emptied or replaced, is put back. */
export class MaintenanceSchedule {
  private readonly connection: Redis;
  private readonly queue: Queue;
  private putting: Promise<void> | undefined;

  constructor(
    redis: RedisOptions,
    private readonly jobs: readonly RegularJob[],
    private readonly onError: (error: Error) => void,
  ) {
    this.connection = connectProducer(redis.url, onError);
    this.queue = new Queue(QUEUES.maintenance, {
      connection: this.connection,
      prefix: redis.prefix,
      skipWaitingForReady: true,
    });
    this.queue.on('error', onError);
  }

  /** Puts back what is missing; never rejects, and does nothing while Redis is away. */
  async putBack(): Promise<void> {
    if (this.connection.status !== 'ready') return;
    await (this.putting ??= this.putBackMissing().finally(() => (this.putting = undefined)));
  }

  async close(): Promise<void> {
    await this.putting;
    await this.queue.close();
    this.connection.disconnect();
  }

  private async putBackMissing(): Promise<void> {
    try {
      for (const { name, everyMs } of this.jobs) {
        const scheduler = await this.queue.getJobScheduler(name);
        if (scheduler !== undefined && scheduler.every === everyMs) continue;
        const opts = { removeOnComplete: true, removeOnFail: { count: 20 } };
        await this.queue.upsertJobScheduler(name, { every: everyMs }, { name, data: { v: 1 }, opts });
      }
    } catch (error) {
      this.onError(error as Error);
    }
  }
}

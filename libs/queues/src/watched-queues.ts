import type { Queue } from 'bullmq';
import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES } from './jobs.ts';

/** All queues, for those who only look at them: their settings are left as they are. */
export class WatchedQueues {
  private readonly producers: readonly JobProducer[];

  constructor(redis: RedisOptions, onError: (error: Error) => void) {
    this.producers = Object.values(QUEUES).map(
      (name) => new JobProducer(name, redis, onError, { skipMetasUpdate: true }),
    );
  }

  /** The queues, the same each time. Rejects while Redis is away or does not answer. */
  queues(): Promise<readonly Queue[]> {
    return Promise.all(this.producers.map((producer) => producer.queue()));
  }

  /** Rejects when Redis does not answer. */
  async ping(): Promise<void> {
    await Promise.all(this.producers.map((producer) => producer.ping()));
  }

  async close(): Promise<void> {
    await Promise.all(this.producers.map((producer) => producer.close()));
  }
}

import type { Queue } from 'bullmq';
import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES } from './jobs.ts';

/** All queues for read-only use, such as Bull Board: opening them changes none of their settings. */
export class ReadOnlyQueues {
  private readonly producers: readonly JobProducer[];

  constructor(redis: RedisOptions, onError: (error: Error) => void) {
    this.producers = Object.values(QUEUES).map(
      (name) => new JobProducer(name, redis, onError, { skipMetasUpdate: true }),
    );
  }

  /** The queues; the same objects each time. Rejects while Redis is down or does not answer. */
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

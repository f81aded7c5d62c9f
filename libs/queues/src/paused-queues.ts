import type { RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES, type QueueName } from './jobs.ts';

export interface PausedQueuesOptions extends RedisOptions {
  readonly onResumed: (queue: QueueName) => void;
  readonly onError: (error: Error) => void;
}

/**
 * Has queues go on that somebody has paused in Redis: rings would not be served there, and workers without jobs look stuck. What is to wait is
 * held back by a row, which everybody can see.
 */
export class PausedQueues {
  private readonly producers: readonly (readonly [QueueName, JobProducer])[];
  private resuming: Promise<void> | undefined;

  constructor(private readonly options: PausedQueuesOptions) {
    const { onError } = options;
    this.producers = Object.values(QUEUES).map((name) => [name, new JobProducer(name, options, onError)]);
  }

  /** Resumes what is paused; never rejects, and does nothing while Redis is away. */
  async resume(): Promise<void> {
    await (this.resuming ??= this.resumeAll().finally(() => (this.resuming = undefined)));
  }

  async close(): Promise<void> {
    await this.resuming;
    await Promise.all(this.producers.map(([, producer]) => producer.close()));
  }

  private async resumeAll(): Promise<void> {
    try {
      for (const [name, producer] of this.producers) {
        if (!producer.isConnected) continue;
        const queue = await producer.queue();
        if (!(await queue.isPaused())) continue;
        await queue.resume();
        this.options.onResumed(name);
      }
    } catch (error) {
      this.options.onError(error as Error);
    }
  }
}

import { Queue } from 'bullmq';
import { connectProducer, LEAVE_WITHIN_MS, type Redis, type RedisOptions } from './connections.ts';
import { QUEUES } from './jobs.ts';
import { within } from '@posthorn/kernel';

/** All queues, for who looks at them. */
export class WatchedQueues {
  private readonly connection: Redis;
  private opened: readonly Queue[] | undefined;

  constructor(
    private readonly redis: RedisOptions,
    private readonly onError: (error: Error) => void,
  ) {
    this.connection = connectProducer(redis.url, onError);
  }

  /**
   * The queues; undefined while Redis was never there yet: BullMQ asks it for its version when a queue is made, and a queue whose question failed
   * fails for ever.
   */
  get queues(): readonly Queue[] | undefined {
    if (this.opened === undefined && this.connection.status === 'ready')
      this.opened = Object.values(QUEUES).map((name) => this.open(name));
    return this.opened;
  }

  /** Rejects when Redis does not answer. */
  async ping(): Promise<void> {
    await this.connection.ping();
  }

  async close(): Promise<void> {
    await within(Promise.all((this.opened ?? []).map((queue) => queue.close())), LEAVE_WITHIN_MS).catch(
      () => undefined,
    );
    this.connection.disconnect();
  }

  private open(name: string): Queue {
    // Who looks leaves a queue's own options (how much of its stream is kept) as those set them who work with it.
    const queue = new Queue(name, {
      connection: this.connection,
      prefix: this.redis.prefix,
      skipMetasUpdate: true,
    });
    queue.on('error', this.onError);
    return queue;
  }
}

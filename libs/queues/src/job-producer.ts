import { type JobsOptions, Queue, type QueueOptions } from 'bullmq';
import { once } from 'node:events';
import { within } from '@posthorn/kernel';
import { connectProducer, LEAVE_WITHIN_MS, type Redis, type RedisOptions } from './connections.ts';
import type { JobName, Jobs, QueueName } from './jobs.ts';

/** What BullMQ tells about jobs in a stream that nobody here reads. */
const EVENTS_KEPT = 100;
/** How long connecting takes at most while Redis is healthy. */
const CONNECTING_MS = 800;

/** A job to be added. */
export interface NewJob<Name extends JobName = JobName> {
  readonly name: Name;
  readonly data: Jobs[Name];
  readonly opts: JobsOptions;
}

/**
 * Adds jobs to one queue while Redis is there. BullMQ asks Redis for its version when a queue is made, and if that fails the queue fails for ever; so
 * it is made once Redis can be reached, and made again if that failed.
 */
export class JobProducer {
  /** The connection that jobs are added on; it fails at once while Redis is away. */
  readonly connection: Redis;
  private made: Promise<Queue> | undefined;

  constructor(
    private readonly queueName: QueueName,
    private readonly redis: RedisOptions,
    private readonly onError: (error: Error) => void,
    private readonly options: Pick<QueueOptions, 'skipMetasUpdate'> = {},
  ) {
    this.connection = connectProducer(redis.url, onError);
  }

  /** Whether Redis can be reached just now. */
  get isConnected(): boolean {
    return this.connection.status === 'ready';
  }

  /** Rejects when Redis does not answer; a connection that is just being made is given a moment. */
  async ping(): Promise<void> {
    if (!this.isConnected)
      await once(this.connection, 'ready', { signal: AbortSignal.timeout(CONNECTING_MS) });
    await this.connection.ping();
  }

  /** Rejects when Redis does not take the jobs; they are then lost, or added unseen. */
  async add(jobs: readonly NewJob[]): Promise<void> {
    const queue = await this.queue();
    const [first] = jobs;
    // A pipeline costs several times what its one command does.
    if (first !== undefined && jobs.length === 1) await queue.add(first.name, first.data, first.opts);
    else await queue.addBulk([...jobs]);
  }

  /** The queue. Rejects while Redis is away. */
  async queue(): Promise<Queue> {
    if (!this.isConnected) throw new Error('Redis is away');
    this.made ??= this.makeQueue();
    return this.made;
  }

  async close(): Promise<void> {
    const queue = await this.made?.catch(() => undefined);
    if (queue !== undefined) await within(queue.close(), LEAVE_WITHIN_MS);
    this.connection.disconnect();
  }

  private async makeQueue(): Promise<Queue> {
    const queue = new Queue(this.queueName, {
      connection: this.connection,
      prefix: this.redis.prefix,
      streams: { events: { maxLen: EVENTS_KEPT } },
      ...this.options,
    });
    queue.on('error', this.onError);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      this.made = undefined;
      await within(queue.close(), LEAVE_WITHIN_MS).catch(() => undefined);
      throw error;
    }
  }
}

import { type JobsOptions, Queue, type QueueOptions } from 'bullmq';
import { once } from 'node:events';
import { within } from '@posthorn/kernel';
import { connectProducer, CLOSE_WITHIN_MS, type Redis, type RedisOptions } from './connections.ts';
import type { JobName, Jobs, QueueName } from './jobs.ts';
import { errorForLog } from './redis-unusable.ts';

/** Maximum length of BullMQ's event stream, which nobody reads. */
const EVENTS_KEPT = 100;
/** Upper bound for connecting to a healthy Redis. */
const CONNECTING_MS = 800;

/** A job to be added. */
export interface NewJob<Name extends JobName = JobName> {
  readonly name: Name;
  readonly data: Jobs[Name];
  readonly opts: JobsOptions;
}

/**
 * Adds jobs to one queue while Redis is up. BullMQ queries the version of Redis when a `Queue` is created, and if that fails the queue stays broken for
 * ever; so it is created only once Redis is reachable, and again if that failed.
 */
export class JobProducer {
  /** The connection on which jobs are added; commands fail at once while Redis is down. */
  readonly connection: Redis;
  private made: Promise<Queue> | undefined;

  constructor(
    readonly queueName: QueueName,
    private readonly redis: RedisOptions,
    private readonly onError: (error: Error) => void,
    private readonly options: Pick<QueueOptions, 'skipMetasUpdate'> = {},
  ) {
    this.connection = connectProducer(redis.url, onError, redis.silenceMs);
  }

  /** Whether Redis is reachable now. */
  get isConnected(): boolean {
    return this.connection.status === 'ready';
  }

  /** Rejects when Redis does not answer; a connection that is still being established gets a moment. */
  async ping(): Promise<void> {
    if (!this.isConnected)
      await once(this.connection, 'ready', { signal: AbortSignal.timeout(CONNECTING_MS) });
    await this.connection.ping();
  }

  /** Rejects when Redis does not confirm the jobs; they may or may not have been added. */
  async add(jobs: readonly NewJob[]): Promise<void> {
    const queue = await this.queue();
    const [first] = jobs;
    // For a single job, a pipeline costs several times as much as a plain command.
    if (first !== undefined && jobs.length === 1) await queue.add(first.name, first.data, first.opts);
    else await queue.addBulk([...jobs]);
  }

  /** The BullMQ queue. Rejects while Redis is down. */
  async queue(): Promise<Queue> {
    if (!this.isConnected) throw new Error('Redis is away');
    this.made ??= this.makeQueue();
    return this.made;
  }

  async close(): Promise<void> {
    const queue = await this.made?.catch(() => undefined);
    if (queue !== undefined) await within(queue.close(), CLOSE_WITHIN_MS);
    this.connection.disconnect();
  }

  private async makeQueue(): Promise<Queue> {
    const queue = new Queue(this.queueName, {
      connection: this.connection,
      prefix: this.redis.prefix,
      streams: { events: { maxLen: EVENTS_KEPT } },
      ...this.options,
    });
    queue.on('error', (error) => this.onError(errorForLog(error)));
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      this.made = undefined;
      await within(queue.close(), CLOSE_WITHIN_MS).catch(() => undefined);
      throw error;
    }
  }
}

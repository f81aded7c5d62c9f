import { randomUUID } from 'node:crypto';
import { type Job, Worker } from 'bullmq';
import { sleep, within } from '@posthorn/kernel';
import { connectWorker, CLOSE_WITHIN_MS, type Redis, type RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { type JobHandlers, type JobName, payloadOf, type QueueName } from './jobs.ts';
import { errorForLog } from './redis-unusable.ts';

/** Lock duration of a job: after this, the jobs of a dead worker are free again. With BullMQ's default of 30 s, the slots of a killed worker were blocked for a minute. */
export const LOCK_MS = 6_000;
/** How often BullMQ looks for the jobs of dead workers. */
export const STALLED_CHECK_MS = 3_000;
/** Practically no limit for restarting a job whose workers died: the outbox counts how often each row is tried. */
const MAX_STALLED = 1_000_000;
/** For whoever looks at the queues. Of jobs that are done, nothing is kept. */
const FAILED_JOBS_KEPT = 100;
/** A worker that has processed no job for a minute, not even a canary, is stuck. */
const LIVENESS = { canaryEveryMs: 10_000, stuckAfterMs: 60_000 };

/** How long a worker waits after Redis has rejected its command for the next job, or its start. */
const REFUSED_BACK_OFF_MS = 1_000;

/** BullMQ retries without a pause when Redis rejects a command (out of memory, read-only replica, ACL), which keeps both half a core busy. */
class BackingOffWorker extends Worker {
  protected override async moveToActive(token: string, name?: string): Promise<Job> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await sleep(REFUSED_BACK_OFF_MS);
      throw error;
    }
  }
}

export interface JobWorkerOptions<Names extends JobName> extends RedisOptions {
  readonly queue: QueueName;
  readonly concurrency: number;
  readonly handlers: JobHandlers<Names>;
  /** How often a canary job is sent, and after how long without any job the worker counts as stuck. */
  readonly liveness?: { readonly canaryEveryMs: number; readonly stuckAfterMs: number };
  readonly onError: (error: Error) => void;
}

/** Consumes one queue and passes each job to its handler. */
export class JobWorker<Names extends JobName> {
  private readonly connection: Redis;
  private readonly producer: JobProducer;
  private readonly canaryId = `canary-${randomUUID()}`;
  private worker: Worker;
  private readonly closing = new AbortController();
  private readonly canaries: NodeJS.Timeout;
  private readonly bounds: typeof LIVENESS;
  private lastServedAt = performance.now();
  private answeringSince: number | undefined;
  private hasAsked = false;

  constructor(private readonly options: JobWorkerOptions<Names>) {
    this.connection = connectWorker(options.url, options.onError);
    this.worker = this.makeWorker();
    this.producer = new JobProducer(options.queue, options, options.onError);
    this.bounds = options.liveness ?? LIVENESS;
    this.canaries = setInterval(() => void this.sendCanary(), this.bounds.canaryEveryMs).unref();
  }

  /** The name of its queue. */
  get queue(): QueueName {
    return this.options.queue;
  }

  /** Starts consuming jobs. */
  start(): void {
    this.run().catch(this.options.onError);
  }

  /**
   * Healthy while it makes progress: some job, if only a canary, was processed in the last minute. While Redis does not answer the worker counts as
   * healthy: it is not to blame.
   */
  liveness(): { ok: boolean; detail: string } {
    if (!this.hasAsked) return { ok: true, detail: 'Redis has not been asked yet' };
    if (this.answeringSince === undefined) return { ok: true, detail: 'Redis does not answer' };
    const idleMs = this.idleMs(this.answeringSince);
    return { ok: idleMs < this.bounds.stuckAfterMs, detail: `last job ${Math.round(idleMs)} ms ago` };
  }

  /**
   * Stops consuming and waits up to 5 s for active jobs. A job that takes longer continues in this process, but its lock is no longer renewed, so
   * another worker may start it too.
   */
  async close(): Promise<void> {
    this.closing.abort();
    clearInterval(this.canaries);
    await within(this.worker.close(), CLOSE_WITHIN_MS);
    await this.producer.close();
    this.connection.disconnect();
  }

  private makeWorker(): Worker {
    const { queue, prefix, concurrency, onError } = this.options;
    const worker = new BackingOffWorker(queue, (job) => this.handle(job), {
      connection: this.connection,
      prefix,
      concurrency,
      autorun: false,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MAX_STALLED,
      drainDelay: 2,
      runRetryDelay: 1_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: FAILED_JOBS_KEPT },
    });
    worker.on('error', (error) => onError(errorForLog(error)));
    worker.on('failed', (_job, error) => onError(error));
    return worker;
  }

  /** BullMQ queries the version of Redis when a `Worker` is created; if Redis rejects that, the worker stays broken for ever, so it is recreated until it succeeds. */
  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!(await this.isReady())) {
      await within(this.worker.close(), CLOSE_WITHIN_MS);
      await sleep(REFUSED_BACK_OFF_MS, signal);
      if (signal.aborted) return;
      this.worker = this.makeWorker();
    }
    await this.worker.run();
  }

  /** Whether the worker could start; resolves once Redis has accepted or rejected it. */
  private async isReady(): Promise<boolean> {
    try {
      await this.worker.waitUntilReady();
      return true;
    } catch (error) {
      this.options.onError(errorForLog(error));
      return false;
    }
  }

  private async handle(job: Job): Promise<void> {
    this.lastServedAt = performance.now();
    // What is in Redis is untrusted: a job that asks for a million attempts would be retried without a pause.
    job.opts.attempts = 1;
    if (job.name === 'worker.canary') return;
    const { handlers } = this.options;
    if (!Object.hasOwn(handlers, job.name))
      throw new Error(`no handler for the job ${JSON.stringify(String(job.name).slice(0, 64))}`);
    const name = job.name as Names;
    await handlers[name](payloadOf(name, job.data));
    this.lastServedAt = performance.now();
  }

  private idleMs(answeringSince: number): number {
    return performance.now() - Math.max(this.lastServedAt, answeringSince);
  }

  /** At most one canary of this process is in the queue. Idle workers get canaries by turns; a busy worker shows progress with its real jobs. */
  private async sendCanary(): Promise<void> {
    try {
      const opts = { deduplication: { id: this.canaryId } };
      await this.producer.add([{ name: 'worker.canary', data: { v: 1 }, opts }]);
      this.answeringSince ??= performance.now();
      // Redis answers, but perhaps not on the worker's connection: a server that was replaced may keep connections open and stay silent on them.
      if (this.idleMs(this.answeringSince) > this.bounds.stuckAfterMs / 2) this.connection.disconnect(true);
    } catch {
      this.answeringSince = undefined;
    } finally {
      this.hasAsked = true;
    }
  }
}

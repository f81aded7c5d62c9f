import { randomUUID } from 'node:crypto';
import { type Job, Worker } from 'bullmq';
import { sleep, within } from '@posthorn/kernel';
import { connectWorker, LEAVE_WITHIN_MS, type Redis, type RedisOptions } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import type { JobHandlers, JobName, QueueName } from './jobs.ts';

/** A dead worker's jobs are free again after this; with BullMQ's default of 30 s the slots of a killed worker were deaf for a minute. */
export const LOCK_MS = 6_000;
/** How often the jobs of dead workers are looked for. */
export const STALLED_CHECK_MS = 3_000;
/** A turn may be begun again however often its workers died: how often a row is tried is counted in the outbox. */
const MAX_STALLED = 1_000_000;
/** A worker that has served nothing for a minute, not even a canary, is stuck. */
const LIVENESS = { canaryEveryMs: 10_000, stuckAfterMs: 60_000 };

/** How long a worker rests after Redis has refused it a job, or what it needs to begin. */
const REFUSED_PAUSE_MS = 1_000;

/** BullMQ asks again at once when Redis refuses (it is full, or a replica, or has a rule against it), which takes half a core of both. */
class PatientWorker extends Worker {
  protected override async moveToActive(token: string, name?: string): Promise<Job> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await sleep(REFUSED_PAUSE_MS);
      throw error;
    }
  }
}

export interface JobWorkerOptions<Names extends JobName> extends RedisOptions {
  readonly queue: QueueName;
  readonly concurrency: number;
  readonly handlers: JobHandlers<Names>;
  /** How often a canary is sent, and after how long without any job the worker is stuck; in milliseconds. */
  readonly liveness?: { readonly canaryEveryMs: number; readonly stuckAfterMs: number };
  readonly onError: (error: Error) => void;
}

/** Takes jobs off one queue and hands each to its handler. */
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

  constructor(private readonly options: JobWorkerOptions<Names>) {
    this.connection = connectWorker(options.url, options.onError);
    this.worker = this.makeWorker();
    this.producer = new JobProducer(options.queue, options, options.onError);
    this.bounds = options.liveness ?? LIVENESS;
    this.canaries = setInterval(() => void this.sendCanary(), this.bounds.canaryEveryMs).unref();
  }

  /** Begins to take jobs. */
  start(): void {
    this.run().catch(this.options.onError);
  }

  /**
   * Whether this worker serves jobs, judged by progress: some job, if only a canary, has been served in the last minute. While Redis does not answer, the
   * worker is not to blame.
   */
  liveness(): { ok: boolean; detail: string } {
    if (this.answeringSince === undefined) return { ok: true, detail: 'Redis does not answer' };
    const idleMs = this.idleMs(this.answeringSince);
    return { ok: idleMs < this.bounds.stuckAfterMs, detail: `last job ${Math.round(idleMs)} ms ago` };
  }

  /**
   * Takes no more jobs, and waits up to 5 s for those in work. What takes longer goes on in this process, but its lock is not renewed: another worker may
   * begin it again.
   */
  async close(): Promise<void> {
    this.closing.abort();
    clearInterval(this.canaries);
    const closed = await within(
      this.worker.close().then(() => true),
      LEAVE_WITHIN_MS,
    );
    // Redis is away or frozen: connections would be made again for ever.
    if (closed === undefined) await within(this.worker.disconnect(), LEAVE_WITHIN_MS);
    await this.producer.close();
    this.connection.disconnect();
  }

  private makeWorker(): Worker {
    const { queue, prefix, concurrency, onError } = this.options;
    const worker = new PatientWorker(queue, (job) => this.handle(job), {
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
      removeOnFail: { count: 100 },
    });
    worker.on('error', onError);
    worker.on('failed', (_job, error) => onError(error));
    return worker;
  }

  /** BullMQ asks Redis for its version when a worker is made. Where that is refused, the worker fails for ever: it is made again until it is not. */
  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!(await this.isReady())) {
      await within(this.worker.close(), LEAVE_WITHIN_MS);
      await sleep(REFUSED_PAUSE_MS, signal);
      if (signal.aborted) return;
      this.worker = this.makeWorker();
    }
    await this.worker.run();
  }

  /** Resolves when Redis has let the worker begin, or has refused it. */
  private async isReady(): Promise<boolean> {
    try {
      await this.worker.waitUntilReady();
      return true;
    } catch (error) {
      this.options.onError(error as Error);
      return false;
    }
  }

  private async handle(job: Job): Promise<void> {
    this.lastServedAt = performance.now();
    if (job.name === 'worker.canary') return;
    const handler = this.options.handlers[job.name as Names] as
      ((payload: unknown) => Promise<void>) | undefined;
    if (handler === undefined)
      throw new Error(`no handler for the job ${JSON.stringify(String(job.name).slice(0, 64))}`);
    await handler(job.data);
    this.lastServedAt = performance.now();
  }

  private idleMs(answeringSince: number): number {
    return performance.now() - Math.max(this.lastServedAt, answeringSince);
  }

  /** One canary a process waits at most; idle workers take them in turns, and a busy one has its jobs to show. */
  private async sendCanary(): Promise<void> {
    try {
      const opts = { deduplication: { id: this.canaryId }, removeOnComplete: true, removeOnFail: true };
      await this.producer.add([{ name: 'worker.canary', data: { v: 1 }, opts }]);
      this.answeringSince ??= performance.now();
      // Redis answers, but perhaps not on the worker's connection: a server that was replaced may keep its connections and say nothing.
      if (this.idleMs(this.answeringSince) > this.bounds.stuckAfterMs / 2) this.connection.disconnect(true);
    } catch {
      this.answeringSince = undefined;
    }
  }
}

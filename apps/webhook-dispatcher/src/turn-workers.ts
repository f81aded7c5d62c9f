import type { LivenessCheck } from '@posthorn/platform';
import { type JobHandlers, JobWorker, TURN_QUEUES, type RedisOptions, turnHandler } from '@posthorn/queues';

const SERVED_QUEUES = ['event', 'webhook', 'slowWebhook'] as const;

type ServedQueue = (typeof SERVED_QUEUES)[number];
type TurnJob = (typeof TURN_QUEUES)[ServedQueue]['job'];

export interface TurnWorkersOptions extends RedisOptions {
  /** Concurrent turns of each queue. */
  readonly concurrency: number;
  readonly onError: (error: unknown) => void;
}

/** The workers of this app: one for each queue of turns. */
export class TurnWorkers {
  private readonly workers: readonly (readonly [queue: string, worker: JobWorker<TurnJob>])[];

  /** @param serve the function that serves the turns of each queue; nothing is consumed before `start` */
  constructor(
    serve: Readonly<Record<ServedQueue, Parameters<typeof turnHandler>[0]>>,
    options: TurnWorkersOptions,
  ) {
    this.workers = SERVED_QUEUES.map((line) => {
      const { queue, job } = TURN_QUEUES[line];
      const handlers = { [job]: turnHandler(serve[line]) } as JobHandlers<TurnJob>;
      return [queue, new JobWorker({ ...options, queue, handlers })];
    });
  }

  start(): void {
    for (const [, worker] of this.workers) worker.start();
  }

  get liveness(): Record<string, LivenessCheck> {
    return Object.fromEntries(this.workers.map(([queue, worker]) => [queue, () => worker.liveness()]));
  }

  /** Stops consuming turns, and waits for active ones. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map(([, worker]) => worker.close()));
  }
}

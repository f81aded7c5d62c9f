import type { LivenessCheck } from '@posthorn/platform';
import { type JobHandlers, JobWorker, TURN_QUEUES, type RedisOptions, turnHandler } from '@posthorn/queues';

const SERVED = ['event', 'webhook', 'slowWebhook'] as const;

type Served = (typeof SERVED)[number];
type TurnJob = (typeof TURN_QUEUES)[Served]['job'];

export interface TurnWorkersOptions extends RedisOptions {
  /** How many turns of each line run at once. */
  readonly concurrency: number;
  readonly onError: (error: unknown) => void;
}

/** What takes the turns of this app off their queues, each line by workers of its own. */
export class TurnWorkers {
  private readonly workers: readonly (readonly [queue: string, worker: JobWorker<TurnJob>])[];

  /** @param serve who serves which turns; nothing is taken before `start` */
  constructor(
    serve: Readonly<Record<Served, Parameters<typeof turnHandler>[0]>>,
    options: TurnWorkersOptions,
  ) {
    this.workers = SERVED.map((line) => {
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

  /** Takes no more turns. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map(([, worker]) => worker.close()));
  }
}

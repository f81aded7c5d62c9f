import type { LaneSettings, LivenessCheck } from '@posthorn/platform';
import { JobWorker, LaneRings, LINES, type RedisOptions, turnHandler } from '@posthorn/queues';

const SERVED = ['event', 'webhook', 'slowWebhook'] as const;

type Served = (typeof SERVED)[number];
type TurnJob = (typeof LINES)[Served]['job'];
type Serve = Parameters<typeof turnHandler>[0];

export interface TurnWorkersOptions {
  readonly redis: RedisOptions;
  readonly lanes: LaneSettings;
  readonly onError: (error: unknown) => void;
}

/** What takes the turns of this app off their queues, each line by workers of its own, and what rings them. */
export class TurnWorkers {
  readonly rings: Readonly<Record<Served, LaneRings>>;
  private workers: { readonly line: Served; readonly worker: JobWorker<TurnJob> }[] = [];

  constructor(private readonly options: TurnWorkersOptions) {
    const { redis, lanes, onError } = options;
    const ringsOf = (line: Served): LaneRings =>
      new LaneRings({ ...redis, line, rowsPerTurn: lanes.TURN_ROWS, onError });
    this.rings = {
      event: ringsOf('event'),
      webhook: ringsOf('webhook'),
      slowWebhook: ringsOf('slowWebhook'),
    };
  }

  /** Says who serves which turns; nothing is taken before `start`. */
  prepare(serve: Readonly<Record<TurnJob, Serve>>): void {
    const { redis, lanes, onError } = this.options;
    this.workers = SERVED.map((line) => {
      const { queue, job } = LINES[line];
      const handlers = { [job]: turnHandler(serve[job]) } as Record<TurnJob, ReturnType<typeof turnHandler>>;
      const concurrency = lanes.TURN_CONCURRENCY;
      return { line, worker: new JobWorker({ ...redis, queue, concurrency, handlers, onError }) };
    });
  }

  start(): void {
    for (const { worker } of this.workers) worker.start();
  }

  get liveness(): Record<string, LivenessCheck> {
    return Object.fromEntries(
      this.workers.map(({ line, worker }) => [LINES[line].queue, () => worker.liveness()]),
    );
  }

  /** Takes no more turns. */
  async close(): Promise<void> {
    await Promise.all(this.workers.map(({ worker }) => worker.close()));
  }

  async closeRings(): Promise<void> {
    await Promise.all(Object.values(this.rings).map((rings) => rings.close()));
  }
}

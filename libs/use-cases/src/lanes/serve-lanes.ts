import { Coalescer, sleep } from '@posthorn/kernel';
import type { LaneDemand, LaneId } from '@posthorn/domain';
import { type ClaimedRow, isOutage, type OutboxStore } from '@posthorn/database';
import { groupSize } from '@posthorn/platform';
import { type LaneRings, Turns, type TurnsOptions, Workbench, type WorkbenchOptions } from '@posthorn/queues';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import { SpareCapacity } from './spare-capacity.ts';

const MAX_GIVEN_BACK_PER_GROUP = 500;
const RETRY_DELAY_MS = 500;

/** Group sizes and times that apply to lanes of any kind; see `TurnsOptions` and `WorkbenchOptions`. */
export interface LaneTimes {
  readonly rowsPerTurn: number;
  readonly handoverMs: number;
  readonly leaseMs: number;
  readonly renewalMs: number;
  readonly marginMs: number;
}

interface ServeLanesOptions<Row extends ClaimedRow, Outcome>
  extends
    LaneTimes,
    Omit<WorkbenchOptions<Row, Outcome>, 'record' | 'renew' | 'giveBack'>,
    Pick<TurnsOptions<Row>, 'onTurn'> {
  readonly outbox: Pick<OutboxStore, 'renew' | 'giveBack'>;
  readonly rings: Pick<LaneRings, 'ringAll' | 'ringSlot'>;
  /** Claims ready rows of several distinct lanes. */
  readonly claim: (demands: readonly LaneDemand[], maxBytesPerLane: number) => Promise<Row[]>;
  /** Whether claiming is allowed now; it never is while outcomes wait to be recorded. Default: always. */
  readonly mayClaim?: () => boolean;
  readonly recorder: Pick<OutcomeRecorder<Outcome>, 'record' | 'isBehind'>;
}

/** Serves the turns of lanes: claim, process, record. */
export class ServeLanes<Row extends ClaimedRow, Outcome> {
  /** For rows that are claimed by something other than a turn of their lane. */
  readonly spareCapacity: SpareCapacity<Row>;
  private readonly givenBack: Coalescer<Row, undefined>;
  private readonly bench: Workbench<Row, Outcome>;
  private readonly turns: Turns<Row>;

  constructor(options: ServeLanesOptions<Row, Outcome>) {
    const { recorder, mayClaim: mayStartAny = () => true } = options;
    const mayClaim = (): boolean => !recorder.isBehind && mayStartAny();
    this.givenBack = new Coalescer({
      serve: async (rows) => {
        await giveBackWithRetry(options, rows);
        return rows.map(() => undefined);
      },
      maxItems: MAX_GIVEN_BACK_PER_GROUP,
    });
    this.bench = this.createBench(options);
    this.turns = new Turns({
      ...options,
      claim: async (demands, maxBytes) => {
        const rows = await options.claim(demands, maxBytes);
        groupSize.observe({ what: 'claim' }, rows.length);
        return rows;
      },
      mayClaim,
      bench: this.bench,
    });
    this.spareCapacity = new SpareCapacity({ bench: this.bench, mayClaim, maxRows: options.maxRows });
  }

  /** Serves one turn of a lane. */
  serve(laneId: LaneId, slot: string): Promise<void> {
    return this.turns.serve(laneId, slot);
  }

  /** Starts nothing more, gives back rows that were not started, and resolves when the others are recorded. */
  async drain(): Promise<void> {
    this.bench.stopIntake();
    await Promise.all([this.turns.settled(), this.spareCapacity.settled()]);
    await this.bench.drain();
  }

  private createBench(options: ServeLanesOptions<Row, Outcome>): Workbench<Row, Outcome> {
    const { outbox, recorder, leaseMs } = options;
    return new Workbench({
      ...options,
      record: (_row, outcome) => recorder.record(outcome),
      renew: (rows) => outbox.renew(rows, leaseMs),
      giveBack: async (rows) => void (await Promise.all(rows.map((row) => this.givenBack.add(row)))),
    });
  }
}

/** Retries while the database is down, and after a deadlock: otherwise the rows would be blocked until their lease expires. After that the clock frees them anyway. */
async function giveBackWithRetry(
  {
    outbox,
    leaseMs,
    onError,
  }: Pick<ServeLanesOptions<ClaimedRow, unknown>, 'outbox' | 'leaseMs' | 'onError'>,
  rows: readonly ClaimedRow[],
): Promise<void> {
  for (const until = performance.now() + leaseMs; ; await sleep(RETRY_DELAY_MS)) {
    try {
      return await outbox.giveBack(rows);
    } catch (error) {
      if (!isOutage(error) || performance.now() > until) throw error;
      onError(error);
    }
  }
}

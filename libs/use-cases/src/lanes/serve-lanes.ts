import { Coalescer, sleep } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import { type ClaimedRow, isOutage, type LaneDemand, type OutboxStore } from '@posthorn/database';
import { groupSize } from '@posthorn/platform';
import { type LaneRings, Turns, type TurnsOptions, Workbench, type WorkbenchOptions } from '@posthorn/queues';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import { SpareCapacity } from './spare-capacity.ts';

const MAX_GIVEN_BACK_PER_GROUP = 500;
const TRY_AGAIN_MS = 500;

/** How lanes are served, whatever is in them. */
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
    Pick<
      WorkbenchOptions<Row, Outcome>,
      | 'concurrency'
      | 'maxRows'
      | 'maxBytes'
      | 'maxRowsPerLane'
      | 'maxPermitsPerLane'
      | 'maxUnrecorded'
      | 'maxUnrecordedPerLane'
      | 'minRowsForNewLane'
      | 'work'
    >,
    Pick<TurnsOptions<Row>, 'onTurn'> {
  readonly outbox: Pick<OutboxStore, 'renew' | 'giveBack'>;
  readonly rings: Pick<LaneRings, 'ringAll' | 'ringSlot'>;
  /** Claims ready rows of several lanes, none of which is named twice. */
  readonly claim: (demands: readonly LaneDemand[], maxBytesPerLane: number) => Promise<Row[]>;
  /** Whether there is anything against claiming just now, beside outcomes that wait to be recorded. */
  readonly mayClaim?: () => boolean;
  readonly recorder: Pick<OutcomeRecorder<Outcome>, 'record' | 'isBehind'>;
  readonly onError: (error: unknown) => void;
}

/** Serves the turns of lanes: claim, work, record. */
export class ServeLanes<Row extends ClaimedRow, Outcome> {
  /** For rows that something else than a turn of their lanes claims. */
  readonly spareCapacity: SpareCapacity<Row>;
  private readonly givenBack: Coalescer<Row, undefined>;
  private readonly bench: Workbench<Row, Outcome>;
  private readonly turns: Turns<Row>;

  constructor(options: ServeLanesOptions<Row, Outcome>) {
    const { recorder, mayClaim: mayStartAny = () => true } = options;
    const mayClaim = (): boolean => !recorder.isBehind && mayStartAny();
    this.givenBack = new Coalescer({
      serve: async (rows) => {
        await giveBackWhileLeased(options, rows);
        return rows.map(() => undefined);
      },
      maxItems: MAX_GIVEN_BACK_PER_GROUP,
    });
    this.bench = this.createBench(options);
    this.turns = new Turns({
      rowsPerTurn: options.rowsPerTurn,
      handoverMs: options.handoverMs,
      claim: async (demands, maxBytes) => {
        const rows = await options.claim(demands, maxBytes);
        groupSize.observe({ what: 'claim' }, rows.length);
        return rows;
      },
      mayClaim,
      bench: this.bench,
      rings: options.rings,
      onTurn: options.onTurn,
    });
    this.spareCapacity = new SpareCapacity({ bench: this.bench, mayClaim, maxRows: options.maxRows });
  }

  /** Serves one turn of a lane. */
  serve(laneId: LaneId, slot: string): Promise<void> {
    return this.turns.serve(laneId, slot);
  }

  /** Begins nothing more, gives back what was not begun, and resolves when what was is recorded. */
  async drain(): Promise<void> {
    this.bench.stopIntake();
    await Promise.all([this.turns.settled(), this.spareCapacity.settled()]);
    await this.bench.drain();
  }

  private createBench(options: ServeLanesOptions<Row, Outcome>): Workbench<Row, Outcome> {
    const { outbox, recorder, leaseMs } = options;
    return new Workbench({
      ...options,
      record: async (_row, outcome) => void (await recorder.record(outcome)),
      renew: (rows) => outbox.renew(rows, leaseMs),
      giveBack: async (rows) => void (await Promise.all(rows.map((row) => this.givenBack.add(row)))),
    });
  }
}

/** While the database is away it is tried again, for else the rows would lie until their lease has ended; after that the clock frees them. */
async function giveBackWhileLeased(
  {
    outbox,
    leaseMs,
    onError,
  }: Pick<ServeLanesOptions<ClaimedRow, unknown>, 'outbox' | 'leaseMs' | 'onError'>,
  rows: readonly ClaimedRow[],
): Promise<void> {
  for (const until = performance.now() + leaseMs; ; await sleep(TRY_AGAIN_MS)) {
    try {
      return await outbox.giveBack(rows);
    } catch (error) {
      if (!isOutage(error) || performance.now() > until) throw error;
      onError(error);
    }
  }
}

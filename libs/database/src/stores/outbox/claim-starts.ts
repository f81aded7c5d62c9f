import type { LaneDemand, LaneId } from '@posthorn/domain';

/** A claim from the front of a lane that takes longer may have skipped dead rows: a hundred thousand of them take about that long. */
const LONG_MS = 20;
/** After the second such claim in a row, the next one from the front comes after this many times as long as the shorter one took. */
const TIMES_AS_LONG = 10;
/** Claims begin this long before the last row claimed. A row that appears later is rarely due earlier, because transactions last at most 10 s. */
const MARGIN_SECONDS = 10;
/** Beyond this many lanes all are forgotten and read from their fronts again. */
const MAX_LANES = 10_000;
const FRONT = Number.NEGATIVE_INFINITY;

/** The parameters of a claim for its lanes: their ids, maximum rows, and the due time from which each is read, in seconds since 1970. */
export type LaneColumns = [laneIds: string[], maxRows: number[], startSeconds: number[]];

/** What a claim must return of each row. */
export interface LaneRow {
  readonly laneId: LaneId;
  /** Its due time, in seconds since 1970. */
  readonly dueSeconds: number;
}

/** Of a lane whose last claim from the front took long. */
interface Start {
  readonly seconds: number;
  /** How long that claim took. */
  readonly tookMs: number;
  /** Until when claims begin there, by `performance.now()`. */
  readonly untilMs: number;
}

/**
 * Where claims begin to read a lane: normally at its front. While a transaction with an old snapshot is open (a dump, a forgotten session), Postgres cannot
 * remove the dead rows of finished work, and each claim from the front would skip all of them again. So after two in a row that took long (one may have waited
 * for something else), claims begin near the last row claimed for a while. A row that is due earlier, because it was given back for example, waits for the next
 * claim from the front.
 */
export class ClaimStarts {
  private readonly starts = new Map<LaneId, Start>();

  constructor(private readonly nowMs = () => performance.now()) {}

  /** Claims rows of distinct lanes by the query. @throws what the query throws */
  async claim<Row extends LaneRow>(
    demands: readonly LaneDemand[],
    query: (lanes: LaneColumns) => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    const askedAtMs = this.nowMs();
    const laneIds = demands.map(({ laneId }) => laneId);
    const starts = laneIds.map((laneId) => this.startOf(laneId, askedAtMs));
    let rows: readonly Row[] = [];
    try {
      rows = await query([laneIds, demands.map(({ maxRows }) => maxRows), starts]);
      return rows;
    } finally {
      this.noteAll(laneIds, starts, rows, this.nowMs() - askedAtMs);
    }
  }

  private noteAll(
    laneIds: readonly LaneId[],
    starts: readonly number[],
    rows: readonly LaneRow[],
    tookMs: number,
  ): void {
    if (tookMs <= LONG_MS && this.starts.size === 0) return;
    const lastDue = lastDueOf(rows);
    for (const [n, laneId] of laneIds.entries()) {
      this.note(laneId, starts[n] === FRONT, lastDue.get(laneId), tookMs);
    }
  }

  private startOf(laneId: LaneId, nowMs: number): number {
    const start = this.starts.get(laneId);
    return start !== undefined && nowMs < start.untilMs ? start.seconds : FRONT;
  }

  private note(laneId: LaneId, isFromFront: boolean, lastDue: number | undefined, tookMs: number): void {
    const known = this.starts.get(laneId);
    const seconds = lastDue === undefined ? known?.seconds : lastDue - MARGIN_SECONDS;
    if (seconds === undefined) return;
    if (!isFromFront) {
      if (known !== undefined) {
        this.starts.set(laneId, { ...known, seconds: Math.max(seconds, known.seconds) });
      }
    } else if (tookMs > LONG_MS) {
      if (this.starts.size >= MAX_LANES) this.starts.clear();
      const restMs = known === undefined ? 0 : Math.min(known.tookMs, tookMs) * TIMES_AS_LONG;
      this.starts.set(laneId, { seconds, tookMs, untilMs: this.nowMs() + restMs });
    } else {
      this.starts.delete(laneId);
    }
  }
}

function lastDueOf(rows: readonly LaneRow[]): Map<LaneId, number> {
  const last = new Map<LaneId, number>();
  for (const { laneId, dueSeconds } of rows) {
    last.set(laneId, Math.max(last.get(laneId) ?? FRONT, dueSeconds));
  }
  return last;
}

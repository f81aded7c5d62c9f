import type { LaneDemand, LaneId } from '@posthorn/domain';
import type { DatabaseClock } from '@posthorn/kernel';
import { restMs } from './rest.ts';

/** A read from the front that takes longer may have skipped dead rows: a hundred thousand of them take about that long. */
const LONG_MS = 20;
/** Reads begin this long before what was read last. A row that appears later is rarely due earlier, because transactions last at most 10 s. */
const MARGIN_SECONDS = 10;
/** Where to begin if the front cannot be read in time and nothing was ever read: this long ago. */
const RECENT_SECONDS = 600;
/** Beyond this many lanes all are forgotten and read from their fronts again. */
const MAX_LANES = 10_000;
const FRONT = Number.NEGATIVE_INFINITY;
/** What is read for all lanes together. */
const ALL_LANES = '*';

/** The parameters of a claim for its lanes: their ids, maximum rows, and the due time from which each is read, in seconds since 1970. */
export type LaneColumns = [laneIds: string[], maxRows: number[], startSeconds: number[]];

/** What a claim must return of each row. */
export interface LaneRow {
  readonly laneId: LaneId;
  /** Its due time, in seconds since 1970. */
  readonly dueSeconds: number;
}

/** Of what took long to read from its front the last time. */
interface Start {
  readonly seconds: number;
  /** How long that took. */
  readonly tookMs: number;
  /** Until when reads begin there, by `performance.now()`. */
  readonly untilMs: number;
}

/**
 * Where to begin to read an index of the outbox that is in the order of a time: normally at its front. While a transaction with an old snapshot is open (a dump,
 * a forgotten session), Postgres cannot remove the dead rows of finished work, and each read from the front would skip all of them again. So after two in a row
 * that took long, reads begin near where the last one ended for a while ({@link restMs}). A row from before, which was given back for example, waits for the next
 * read from the front.
 */
export class ReadStarts {
  private readonly starts = new Map<string, Start>();

  /**
   * @param clock of the database
   * @param nowMs a monotonic clock, in milliseconds
   */
  constructor(
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
    private readonly nowMs = () => performance.now(),
  ) {}

  /** Claims rows of distinct lanes by the query. @throws what the query throws */
  claim<Row extends LaneRow>(
    demands: readonly LaneDemand[],
    query: (lanes: LaneColumns) => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    const laneIds = demands.map(({ laneId }) => laneId);
    const maxRows = demands.map((demand) => demand.maxRows);
    return this.read(laneIds, (starts) => query([laneIds, maxRows, starts]), lastDueOf);
  }

  /**
   * Reads rows of all lanes together by the query, which is given where to begin, in seconds since 1970, and returns up to where it has read.
   *
   * @throws what the query throws
   */
  look<Found extends { readonly readSeconds: number }>(
    query: (startSeconds: number) => Promise<Found>,
  ): Promise<Found> {
    const readTo = ({ readSeconds }: Found) => new Map([[ALL_LANES, readSeconds]]);
    return this.read([ALL_LANES], ([start]) => query(start!), readTo);
  }

  private async read<Result>(
    keys: readonly string[],
    query: (starts: number[]) => Promise<Result>,
    readTo: (result: Result) => ReadonlyMap<string, number>,
  ): Promise<Result> {
    const askedAtMs = this.nowMs();
    const starts = keys.map((key) => this.startOf(key, askedAtMs));
    let result: Result | undefined;
    try {
      result = await query(starts);
      return result;
    } finally {
      const tookMs = this.nowMs() - askedAtMs;
      if (tookMs > LONG_MS || this.starts.size > 0) {
        const ends = result && readTo(result);
        keys.forEach((key, n) => this.note(key, starts[n] === FRONT, tookMs, this.nextStart(key, ends)));
      }
    }
  }

  private startOf(key: string, nowMs: number): number {
    const start = this.starts.get(key);
    return start !== undefined && nowMs < start.untilMs ? start.seconds : FRONT;
  }

  /** @param ends up to where each was read; undefined: the query has failed */
  private nextStart(key: string, ends: ReadonlyMap<string, number> | undefined): number | undefined {
    const end = ends?.get(key);
    if (end !== undefined) return end - MARGIN_SECONDS;
    const recent = ends === undefined ? this.clock.nowMs() / 1_000 - RECENT_SECONDS : undefined;
    return this.starts.get(key)?.seconds ?? recent;
  }

  private note(key: string, isFromFront: boolean, tookMs: number, seconds: number | undefined): void {
    if (seconds === undefined) return;
    const known = this.starts.get(key);
    if (!isFromFront) {
      if (known !== undefined) this.starts.set(key, { ...known, seconds: Math.max(seconds, known.seconds) });
    } else if (tookMs > LONG_MS) {
      if (this.starts.size >= MAX_LANES) this.starts.clear();
      const untilMs = this.nowMs() + restMs(known?.tookMs ?? 0, tookMs);
      this.starts.set(key, { seconds, tookMs, untilMs });
    } else {
      this.starts.delete(key);
    }
  }
}

function lastDueOf(rows: readonly LaneRow[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const { laneId, dueSeconds } of rows) {
    last.set(laneId, Math.max(last.get(laneId) ?? FRONT, dueSeconds));
  }
  return last;
}

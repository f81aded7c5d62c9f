import type { LaneId } from '@posthorn/domain';
import { sleep } from '@posthorn/kernel';
import type { LineName } from './lines.ts';
import { CLOCK_SLOT } from './turn.ts';

/** How many rows one statement makes ready or frees. */
const ROWS_PER_STATEMENT = 5_000;
/** A row is given up after this many claims in a row that ended without an answer. */
const MAX_UNANSWERED_CLAIMS = 5;
/** People schedule for whole seconds. */
const SECOND_MS = 1_000;
/** How long after the beginning of a second a tick comes: the second has begun for the database too, whose time is known to about a millisecond. */
const AFTER_MS = 5;

/** A lane that has work, and whether its receiver keeps us waiting. */
interface ReadyLane {
  readonly queue: Exclude<LineName, 'slowWebhook'>;
  readonly laneId: LaneId;
  readonly isSlow: boolean;
}

/** What the clock asks of the outbox. */
interface DueRows {
  ripen(limit: number): Promise<number>;
  revive(
    graceMs: number,
    limit: number,
    maxUnanswered: number,
  ): Promise<{ revived: number; givenUp: number }>;
  lanesWithReadyRows(): Promise<ReadyLane[]>;
}

export interface ClockOptions {
  readonly outbox: DueRows;
  readonly rings: Readonly<Record<LineName, { ringSlot(laneId: LaneId, slot: string): void }>>;
  readonly tickMs: number;
  /** How long after its end a lease counts as dead; also how long the database must have answered without a break before any does. */
  readonly graceMs: number;
  /** How often those who hold leases renew them. */
  readonly renewalMs: number;
  /** The time by which leases end, in milliseconds. */
  readonly databaseNowMs: () => Promise<number>;
  /** A monotonic clock, in milliseconds. Default: `performance.now`. */
  readonly nowMs?: () => number;
  /** Told what a tick found; for logs. */
  readonly onTick?: (found: { ripened: number; revived: number; givenUp: number; lanes: number }) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Makes due rows ready, frees those of dead turns, and rings every lane that has ready rows. Any number of clocks may run.
 * Whatever was lost with Redis, a worker or a gateway is found here within a tick or two, because it is a row.
 */
export class Clock {
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;
  private ticks = 0;
  private answeringSince: number | undefined;
  private lastProgressAt: number;
  private lastEndAt: number;
  /** By how much the time by which leases end was ahead of the monotonic clock. */
  private aheadMs: number | undefined;
  private noneIsDeadBefore = Number.NEGATIVE_INFINITY;
  private readonly nowMs: () => number;

  constructor(private readonly options: ClockOptions) {
    this.nowMs = options.nowMs ?? ((): number => performance.now());
    this.lastProgressAt = this.lastEndAt = this.nowMs();
  }

  start(): void {
    this.running ??= this.run(this.ending.signal);
  }

  /** Ends when the round that is under way has, which ripens no further rows. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  /** One round; never rejects. */
  async tick(): Promise<void> {
    try {
      await this.detectTimeJump();
      const ripened = await this.ripen();
      const { revived, givenUp } = await this.revive();
      const lanes = await this.ring();
      this.answeringSince ??= this.nowMs();
      this.lastProgressAt = this.nowMs();
      this.options.onTick?.({ ripened, revived, givenUp, lanes });
    } catch (error) {
      this.answeringSince = undefined;
      this.options.onError(error);
    } finally {
      this.lastEndAt = this.nowMs();
    }
  }

  /** Whether rounds are finished, or what is due ripens. While the database does not answer, the clock is not to blame. */
  liveness(stuckAfterMs: number): { ok: boolean; detail: string } {
    if (this.answeringSince === undefined) return { ok: true, detail: 'the database does not answer' };
    const idleMs = this.nowMs() - this.lastProgressAt;
    return { ok: idleMs < stuckAfterMs, detail: `last progress ${Math.round(idleMs)} ms ago` };
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(untilNextTickMs(this.nowMs() + (this.aheadMs ?? 0), this.options.tickMs), signal);
      if (!signal.aborted) await this.tick();
    }
  }

  /**
   * The leases of live processes look dead after the database's clock was set forward or far back, or after the machine, or this process and theirs, stood
   * still: they get time to renew them. A clock that has just started cannot tell, and gives them that time too.
   */
  private async detectTimeJump(): Promise<void> {
    const { graceMs, renewalMs, tickMs, databaseNowMs } = this.options;
    const stoodStillMs = this.nowMs() - this.lastEndAt - tickMs;
    const aheadMs = (await databaseNowMs()) - this.nowMs();
    const setMs = Math.abs(aheadMs - (this.aheadMs ?? Number.NEGATIVE_INFINITY));
    this.aheadMs = aheadMs;
    if (Math.max(stoodStillMs, setMs) > graceMs) this.noneIsDeadBefore = this.nowMs() + renewalMs + graceMs;
  }

  private async ripen(): Promise<number> {
    let all = 0;
    for (let ringAt = performance.now(); ;) {
      const some = await this.options.outbox.ripen(ROWS_PER_STATEMENT);
      all += some;
      // A million rows that fall due at once take minutes. A clock that is stopped meanwhile leaves the rest to the next one.
      if (some < ROWS_PER_STATEMENT || this.ending.signal.aborted) return all;
      this.lastProgressAt = this.nowMs();
      if (performance.now() < ringAt) continue;
      // Lanes are rung before the rest has ripened, so that a hundred thousand rows due at once begin to flow at once; but no more often than
      // once a tick: each look finds the same lanes again.
      await this.ring();
      ringAt = performance.now() + this.options.tickMs;
    }
  }

  private async revive(): Promise<{ revived: number; givenUp: number }> {
    const { graceMs, outbox } = this.options;
    const now = this.nowMs();
    // After an outage of the database, those who know an outcome record it first.
    const hasAnswered = this.answeringSince !== undefined && now - this.answeringSince >= graceMs;
    if (!hasAnswered || now < this.noneIsDeadBefore) return { revived: 0, givenUp: 0 };
    return outbox.revive(graceMs, ROWS_PER_STATEMENT, MAX_UNANSWERED_CLAIMS);
  }

  private async ring(): Promise<number> {
    const lanes = await this.options.outbox.lanesWithReadyRows();
    // A dead turn holds its slot until Redis notices; the clock has two slots of its own, so that no turn holds the one it rings for two ticks in a row.
    const slot = `${CLOCK_SLOT}${(this.ticks += 1) % 2}`;
    const { rings } = this.options;
    for (const { queue, laneId, isSlow } of lanes) {
      // A slow lane has one slot, whoever rings it.
      if (isSlow) rings.slowWebhook.ringSlot(laneId, '0');
      else rings[queue].ringSlot(laneId, slot);
    }
    return lanes.length;
  }
}

/**
 * How long a clock waits for its next round: at most about `tickMs`, until just after a second begins by the database's clock. What is due at a
 * whole second, as nearly all that is scheduled, then leaves at once, instead of half a round later on average.
 *
 * @param databaseMs the database's time, in milliseconds since 1970
 * @param tickMs rounds that are closer together than a second are kept at multiples of this
 */
export function untilNextTickMs(databaseMs: number, tickMs: number): number {
  const step = Math.min(tickMs, SECOND_MS);
  return Math.floor((databaseMs + tickMs) / step) * step - databaseMs + AFTER_MS;
}

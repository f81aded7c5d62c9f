import type { LaneId } from '@posthorn/domain';
import { sleep } from '@posthorn/kernel';
import type { TurnQueueName } from './turn-queues.ts';
import { CLOCK_SLOT } from './turn.ts';

/** Maximum rows that one statement makes ready or frees. */
const ROWS_PER_STATEMENT = 5_000;
/** A row is given up after this many consecutive claims whose worker died. */
const MAX_UNANSWERED_CLAIMS = 5;
/** People schedule for whole seconds. */
const SECOND_MS = 1_000;
/** Delay of a tick after the start of a second, so that the second has surely begun for the database, whose time is known to about a millisecond. */
const AFTER_MS = 5;

/** A lane with ready rows. */
interface ReadyLane {
  readonly queue: Exclude<TurnQueueName, 'slowWebhook'>;
  readonly laneId: LaneId;
  readonly isSlow: boolean;
}

/** What the clock needs of the outbox: `makeReady` makes due rows ready, `revive` frees rows whose lease had expired by a time of the database. */
interface DueRows {
  makeReady(limit: number): Promise<number>;
  revive(
    graceMs: number,
    limit: number,
    maxUnanswered: number,
    asOfMs: number,
  ): Promise<{ revived: number; givenUp: number }>;
  lanesWithReadyRows(): Promise<ReadyLane[]>;
}

export interface ClockOptions {
  readonly outbox: DueRows;
  readonly rings: Readonly<Record<TurnQueueName, { ringSlot(laneId: LaneId, slot: string): void }>>;
  readonly tickMs: number;
  /**
   * How long after its expiry a lease counts as abandoned. No lease does until the database has answered without interruption for this long: after an
   * outage, its holder must be able to renew it first.
   */
  readonly graceMs: number;
  /** How often the holders of leases renew them. */
  readonly renewalMs: number;
  /** The database's time, by which leases expire, in milliseconds since 1970. */
  readonly databaseNowMs: () => Promise<number>;
  /** A monotonic clock, in milliseconds. Default: `performance.now`. */
  readonly nowMs?: () => number;
  /** Called after each successful tick with what it found, for logging. */
  readonly onTick?: (found: { madeReady: number; revived: number; givenUp: number; lanes: number }) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * On every tick: makes due rows ready, frees rows with abandoned leases, and rings every lane that has ready rows. Any number of clocks may run
 * concurrently. Work that was lost with Redis, a worker or a gateway is found again within a tick or two, because all work is rows in the database.
 */
export class Clock {
  private readonly ending = new AbortController();
  private running: Promise<void> | undefined;
  private ticks = 0;
  private answeringSince: number | undefined;
  private lastProgressAt: number;
  /** When this process was last seen to run. */
  private lastRunAt: number;
  /** Last known offset of the database's clock from the monotonic clock. */
  private aheadMs: number | undefined;
  private noneIsDeadBefore = Number.NEGATIVE_INFINITY;
  private readonly nowMs: () => number;

  constructor(private readonly options: ClockOptions) {
    this.nowMs = options.nowMs ?? ((): number => performance.now());
    this.lastProgressAt = this.lastRunAt = this.nowMs();
  }

  start(): void {
    this.running ??= this.run(this.ending.signal);
  }

  /** Resolves when the tick that is under way has ended; it makes no further rows ready. */
  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  /** One tick; never rejects. */
  async tick(): Promise<void> {
    try {
      this.detectStandstill(this.options.tickMs);
      const madeReady = await this.makeReady();
      // Only now: with a million rows due, making them ready takes minutes, and the time may be set meanwhile.
      const databaseMs = await this.detectTimeJump();
      this.detectStandstill();
      const { revived, givenUp } = await this.revive(databaseMs);
      const lanes = await this.ring();
      this.answeringSince ??= this.nowMs();
      this.lastProgressAt = this.nowMs();
      this.options.onTick?.({ madeReady, revived, givenUp, lanes });
    } catch (error) {
      this.answeringSince = undefined;
      this.options.onError(error);
    } finally {
      this.detectStandstill();
    }
  }

  /** Healthy while ticks complete or make progress. While the database does not answer the clock counts as healthy: it is not to blame. */
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

  /** Called after each wait, because everything may stand still in the middle of a tick. @param expectedMs how long the wait was meant to last, if it was one for time */
  private detectStandstill(expectedMs = 0): void {
    const nowMs = this.nowMs();
    if (nowMs - this.lastRunAt - expectedMs > this.options.graceMs) this.letLeasesBeRenewed();
    this.lastRunAt = nowMs;
  }

  /** @returns the database's time */
  private async detectTimeJump(): Promise<number> {
    const databaseMs = await this.options.databaseNowMs();
    const aheadMs = databaseMs - this.nowMs();
    const setMs = Math.abs(aheadMs - (this.aheadMs ?? Number.NEGATIVE_INFINITY));
    this.aheadMs = aheadMs;
    if (setMs > this.options.graceMs) this.letLeasesBeRenewed();
    return databaseMs;
  }

  /**
   * Leases of live processes look expired after the database's clock has jumped, or after this machine or the processes were suspended. Then, and after
   * a start of this process, which may have followed such a jump, their holders get time to renew them.
   */
  private letLeasesBeRenewed(): void {
    const { graceMs, renewalMs } = this.options;
    this.noneIsDeadBefore = this.nowMs() + renewalMs + graceMs;
  }

  private async makeReady(): Promise<number> {
    let all = 0;
    for (let ringAt = performance.now(); ;) {
      const some = await this.options.outbox.makeReady(ROWS_PER_STATEMENT);
      all += some;
      this.detectStandstill();
      // A million rows that fall due at once take minutes; when stopped meanwhile, leave the rest to the next clock.
      if (some < ROWS_PER_STATEMENT || this.ending.signal.aborted) return all;
      this.lastProgressAt = this.nowMs();
      if (performance.now() < ringAt) continue;
      // Ring lanes before the rest is ready, so that the first rows of a large backlog start at once; but at most once per tick, because each query
      // finds the same lanes again.
      await this.ring();
      ringAt = performance.now() + this.options.tickMs;
    }
  }

  /** @param asOfMs the database's time when it was last read: the statement may be delayed for longer than a lease lasts */
  private async revive(asOfMs: number): Promise<{ revived: number; givenUp: number }> {
    const { graceMs, outbox } = this.options;
    const now = this.nowMs();
    // After an outage of the database, workers that know an outcome must be able to record it first.
    const hasAnswered = this.answeringSince !== undefined && now - this.answeringSince >= graceMs;
    if (!hasAnswered || now < this.noneIsDeadBefore) return { revived: 0, givenUp: 0 };
    return outbox.revive(graceMs, ROWS_PER_STATEMENT, MAX_UNANSWERED_CLAIMS, asOfMs);
  }

  private async ring(): Promise<number> {
    const lanes = await this.options.outbox.lanesWithReadyRows();
    // A dead turn occupies its slot until BullMQ notices. The clock alternates between two slots of its own, so that none can block it for two ticks in a row.
    const slot = `${CLOCK_SLOT}${(this.ticks += 1) % 2}`;
    const { rings } = this.options;
    for (const { queue, laneId, isSlow } of lanes) {
      // A slow lane has only one slot, which the clock shares.
      if (isSlow) rings.slowWebhook.ringSlot(laneId, '0');
      else rings[queue].ringSlot(laneId, slot);
    }
    return lanes.length;
  }
}

/**
 * How long to wait for the next tick: at most about `tickMs`, aligned to just after the start of a second of the database's clock. Nearly all scheduled
 * emails are due at a whole second; this way they leave at once, instead of half a tick later on average.
 *
 * @param databaseMs the database's time, in milliseconds since 1970
 * @param tickMs the interval between ticks; below one second, ticks are aligned to multiples of it
 */
export function untilNextTickMs(databaseMs: number, tickMs: number): number {
  const step = Math.min(tickMs, SECOND_MS);
  return Math.floor((databaseMs + tickMs) / step) * step - databaseMs + AFTER_MS;
}

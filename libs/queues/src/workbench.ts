import type { LaneId } from '@posthorn/domain';
import { Counts, RoundRobin, suspensionProofNowMs } from '@posthorn/kernel';
import { DenseSet, type DenseSetMember } from './dense-set.ts';
import { Permits } from './permits.ts';
import { Capacity } from './capacity.ts';
import type { HeldRow, WorkbenchOptions } from './workbench-options.ts';

/** The share of `maxUnrecorded` that is reserved for lanes that have nothing unrecorded. */
const SHARE_OF_OTHER_LANES = 1 / 20;
/** Delay after which a failed renewal is retried. */
const RENEW_AGAIN_MS = 1_000;

interface Held<Row> extends DenseSetMember {
  readonly row: Row;
  /** By the suspension-proof clock; conservative, because it is counted from before the claim or renewal was sent. */
  leaseEndsAt: number;
  /** Whether it holds a permit. */
  hasPermit: boolean;
  readonly done: () => void;
}

/** Processes the claimed rows of one process: round robin between lanes, with bounded concurrency, renewing leases for as long as rows are held. */
export class Workbench<Row extends HeldRow, Outcome> {
  private readonly held = new DenseSet<Held<Row>>();
  private readonly lines = new RoundRobin<LaneId, Held<Row>>();
  private readonly waitingForCapacity = new Set<() => void>();
  /** Reserve capacity here before a claim. */
  readonly capacity: Capacity;
  private readonly permits: Permits;
  /** How many rows are being processed without a permit. */
  private waitingWithoutPermit = 0;
  /** How many rows have outcomes that are not durable yet. */
  private recording = 0;
  private readonly recordingOf = new Counts<LaneId>();
  private draining = false;
  private renewing = false;
  private readonly renewals: NodeJS.Timeout;
  private renewal: NodeJS.Timeout | undefined;

  constructor(private readonly options: WorkbenchOptions<Row, Outcome>) {
    this.capacity = new Capacity(options);
    this.permits = new Permits(options);
    this.renewals = setInterval(() => void this.renewAll(), options.renewalMs);
  }

  /** Resolves when a row has left the bench, or after `withinMs`. */
  waitForCapacity(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waitingForCapacity.delete(done);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      this.waitingForCapacity.add(done);
    });
  }

  /**
   * Adds claimed rows.
   *
   * @param claimedAt `suspensionProofNowMs()` before the claim was sent
   * @returns resolves when all of them have left the bench, whatever became of them
   */
  async put(rows: readonly Row[], claimedAt: number): Promise<void> {
    const all = rows.map((row) => this.hold(row, claimedAt + this.options.leaseMs));
    if (this.draining) await this.giveBackQueued();
    this.startNext();
    await Promise.all(all);
  }

  /** From now on capacity cannot be reserved, and rows of claims that were under way are given back. */
  stopIntake(): void {
    this.draining = true;
    this.capacity.close();
  }

  /** Starts nothing more, gives back rows that were not started, and waits for those that were. */
  async drain(): Promise<void> {
    this.stopIntake();
    await this.giveBackQueued();
    while (this.held.size > 0) await this.waitForCapacity(100);
    clearInterval(this.renewals);
  }

  private hold(row: Row, leaseEndsAt: number): Promise<void> {
    return new Promise((done) => {
      const held: Held<Row> = {
        row,
        leaseEndsAt,
        hasPermit: false,
        done,
        position: undefined,
      };
      this.held.add(held);
      this.capacity.take(row);
      this.lines.add(row.laneId, held);
    });
  }

  private startNext(): void {
    while (this.mayStartAny()) {
      const held = this.lines.next(
        (candidate) => this.hasLease(candidate) && this.mayStart(candidate.row.laneId),
      );
      if (held === undefined) break;
      this.takePermit(held);
      void this.serve(held);
    }
    // Rows that wait although permits are free may have too little left of their lease.
    if (this.permits.free > 0 && this.lines.someHead((first) => !this.hasLease(first))) void this.renewAll();
  }

  private mayStartAny(): boolean {
    return !this.draining && this.permits.free > 0 && this.unrecordedLeft > 0;
  }

  /** How many more rows may start before an outcome has become durable. */
  private get unrecordedLeft(): number {
    return this.options.maxUnrecorded - this.permits.taken - this.recording;
  }

  private mayStart(laneId: LaneId): boolean {
    return this.permits.mayTake(laneId) && this.mayLeaveUnrecorded(laneId);
  }

  private mayLeaveUnrecorded(laneId: LaneId): boolean {
    const { maxUnrecorded, maxUnrecordedPerLane } = this.options;
    const recording = this.recordingOf.of(laneId);
    if (maxUnrecordedPerLane === undefined || recording + this.permits.of(laneId) === 0) return true;
    return recording < maxUnrecordedPerLane && this.unrecordedLeft > maxUnrecorded * SHARE_OF_OTHER_LANES;
  }

  private takePermit(held: Held<Row>): void {
    held.hasPermit = true;
    this.permits.take(held.row.laneId);
  }

  private returnPermit(held: Held<Row>): void {
    held.hasPermit = false;
    this.permits.leave(held.row.laneId);
  }

  private releasePermitEarly(held: Held<Row>): void {
    if (!held.hasPermit || this.waitingWithoutPermit >= this.options.maxRows / 2) return;
    this.waitingWithoutPermit += 1;
    this.returnPermit(held);
    this.startNext();
  }

  private hasLease(held: Held<Row>): boolean {
    return held.leaseEndsAt - suspensionProofNowMs() >= this.options.marginMs;
  }

  private async serve(held: Held<Row>): Promise<void> {
    try {
      const outcome = await this.workOn(held);
      if (outcome === undefined) await this.options.giveBack([held.row]);
      else await this.options.record(held.row, outcome);
    } catch (error) {
      this.options.onError(error);
    } finally {
      this.recording -= 1;
      this.recordingOf.remove(held.row.laneId);
      this.release(held);
      this.startNext();
    }
  }

  private async workOn(held: Held<Row>): Promise<Outcome | undefined> {
    try {
      return await this.options.work(
        held.row,
        () => !this.draining && this.hasLease(held),
        () => this.releasePermitEarly(held),
      );
    } finally {
      this.recording += 1;
      this.recordingOf.add(held.row.laneId);
      if (held.hasPermit) this.returnPermit(held);
      else this.waitingWithoutPermit -= 1;
      this.startNext();
    }
  }

  private release(held: Held<Row>): void {
    this.held.delete(held);
    this.capacity.leave(held.row);
    held.done();
    for (const wake of this.waitingForCapacity) wake();
  }

  private async renewAll(): Promise<void> {
    if (this.renewing || this.held.size === 0) return;
    this.renewing = true;
    const all = this.held.values();
    const askedAt = suspensionProofNowMs();
    try {
      const alive = new Set(await this.options.renew(all.map((held) => held.row)));
      for (const held of all) this.renewed(held, alive.has(held.row), askedAt);
    } catch (error) {
      // Nothing starts without a confirmed lease; the next renewal may bring one.
      this.options.onError(error);
      this.renewSoon();
    } finally {
      this.renewing = false;
    }
    // Delayed, because otherwise a failed renewal would be retried without a pause.
    setTimeout(() => this.startNext(), 100).unref();
  }

  /** After an outage, the clock may free expired leases before the next regular renewal; emails that are being transmitted would then be sent twice. */
  private renewSoon(): void {
    this.renewal ??= setTimeout(() => {
      this.renewal = undefined;
      void this.renewAll();
    }, RENEW_AGAIN_MS).unref();
  }

  private renewed(held: Held<Row>, alive: boolean, askedAt: number): void {
    // A row that is not alive belongs to somebody else now. A transmission under way goes on, and its outcome is recorded as late.
    held.leaseEndsAt = alive ? askedAt + this.options.leaseMs : Number.NEGATIVE_INFINITY;
    if (!alive && this.lines.remove(held.row.laneId, held)) this.release(held);
  }

  private async giveBackQueued(): Promise<void> {
    const queued = this.lines.takeAll();
    try {
      await this.options.giveBack(queued.map((held) => held.row));
    } catch (error) {
      this.options.onError(error);
    }
    for (const held of queued) this.release(held);
  }
}

import { sleep } from '@posthorn/kernel';
import { AdaptiveRate } from './adaptive-rate.ts';

const SECOND_MS = 1_000;
/** More than a process can send: where the rate is lowered from if it is not limited. */
const UNLIMITED_PER_SECOND = 10_000;

/** Limits how many transmissions may begin per second, evenly spaced: to a given rate, and to what the relay takes. */
export class Pace {
  private readonly rate: AdaptiveRate;
  /** When the next transmission may begin, by the monotonic clock. */
  private nextMs = 0;
  private readonly ending = new AbortController();

  /**
   * @param maxPerSecond how many may begin in a second; 0: any number
   * @param onLowered called when the relay's answers begin (`true`), or no longer have (`false`), an effect on the rate
   * @param nowMs a monotonic clock, in milliseconds
   */
  constructor(
    private readonly maxPerSecond: number,
    private readonly onLowered: (isLowered: boolean) => void = () => undefined,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.rate = new AdaptiveRate(maxPerSecond || UNLIMITED_PER_SECOND, nowMs);
  }

  /** Resolves when it is the caller's turn, first come, first served. */
  turn(): Promise<void> {
    const nowMs = this.nowMs();
    const atMs = Math.max(this.nextMs, nowMs);
    const isUnlimited = this.maxPerSecond === 0 && !this.rate.isLowered;
    this.nextMs = atMs + (isUnlimited ? 0 : SECOND_MS / this.rate.perSecond);
    // Timers have a resolution of a millisecond; a shorter wait is skipped, and the next one is longer by as much.
    return atMs - nowMs < 1 ? Promise.resolve() : sleep(atMs - nowMs, this.ending.signal);
  }

  /** Adapts the rate to an answer of the relay. @param isTooFast whether it says that emails come too fast */
  noteAnswer(isTooFast: boolean): void {
    const { isLowered } = this.rate;
    this.rate.note(isTooFast);
    if (this.rate.isLowered !== isLowered) this.onLowered(!isLowered);
  }

  /** Removes the limit permanently: for shutting down, when nothing more is begun. */
  stop(): void {
    this.ending.abort();
  }
}

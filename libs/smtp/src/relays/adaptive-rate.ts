const SECOND_MS = 1_000;

/** The slowest rate that a relay is assumed to want. */
const MIN_PER_SECOND = 1;
/** Up to this share of its answers, "too fast" has no effect: the server of some recipient may have said it, quoted by the relay. */
const TOLERATED_SHARE = 0.25;
/** What the rate becomes otherwise, as a share of what the relay took. */
const DECREASE = 0.7;
/** The growth of the rate in each second without that. */
const GROWTH = 1.1;
/** Answers are judged when they are from a second and at least as many as this, */
const MIN_ANSWERS = 10;
/** or as soon as so many say "too fast": each of these emails has lost an attempt. */
const ENOUGH_TOO_FAST = 20;
/** Answers from a longer time say nothing about a rate. */
const MAX_WINDOW_MS = 30_000;
/** The rate is the full one again when so long no answer has said "too fast", even if there were too few answers to judge. */
const FORGOTTEN_AFTER_MS = 3_600_000;

/**
 * The rate at which a relay takes emails, found by its answers: decreased when many of them say "too fast", and increased slowly otherwise. Without it, everything
 * that is due would be tried, deferred, and due again at the same moment, until the retries are used up.
 */
export class AdaptiveRate {
  private current: number;
  private lastTooFastMs = Number.NEGATIVE_INFINITY;
  /** The answers since they were judged last. */
  private readonly window = { begunAtMs: Number.NEGATIVE_INFINITY, answers: 0, tooFast: 0 };

  /**
   * @param maxPerSecond emails in a second; also the rate at the beginning
   * @param nowMs a monotonic clock, in milliseconds
   */
  constructor(
    private readonly maxPerSecond: number,
    private readonly nowMs: () => number,
  ) {
    this.current = maxPerSecond;
  }

  /** Emails in a second. */
  get perSecond(): number {
    return this.current;
  }

  /** Whether the relay's answers have an effect. */
  get isLowered(): boolean {
    return this.current < this.maxPerSecond;
  }

  /** Notes an answer of the relay. @param isTooFast whether it says that emails come too fast */
  note(isTooFast: boolean): void {
    const { window } = this;
    const nowMs = this.nowMs();
    if (isTooFast) this.lastTooFastMs = nowMs;
    else if (nowMs - this.lastTooFastMs > FORGOTTEN_AFTER_MS) this.current = this.maxPerSecond;
    if (nowMs - window.begunAtMs > MAX_WINDOW_MS)
      Object.assign(window, { begunAtMs: nowMs, answers: 0, tooFast: 0 });
    window.answers += 1;
    if (isTooFast) window.tooFast += 1;
    const { answers, tooFast } = window;
    const seconds = Math.max(nowMs - window.begunAtMs, 1) / SECOND_MS;
    if (tooFast < ENOUGH_TOO_FAST && (seconds < 1 || answers < MIN_ANSWERS)) return;
    window.begunAtMs = Number.NEGATIVE_INFINITY;
    this.adjust(answers / seconds, tooFast / answers, seconds);
  }

  private adjust(perSecond: number, shareTooFast: number, seconds: number): void {
    // No more than half of it counts as not taken: a relay takes nothing for a moment when a burst that it allows is used up.
    const taken = perSecond * Math.max(1 - shareTooFast, 0.5);
    const next =
      shareTooFast > TOLERATED_SHARE
        ? Math.min(taken * DECREASE, this.current)
        : this.current * GROWTH ** seconds;
    this.current = Math.min(Math.max(next, MIN_PER_SECOND), this.maxPerSecond);
  }
}

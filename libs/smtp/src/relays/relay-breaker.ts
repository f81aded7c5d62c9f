/** Back-off after the first failure. */
const FIRST_BACK_OFF_MS = 1_000;
/** The back-off doubles with each failed probe, up to this. */
const MAX_BACK_OFF_MS = 30_000;
/** A probe without a result is given up after this, so that another may begin. */
const PROBE_DEADLINE_MS = 60_000;
/** How long an answer about an email shows that the relay serves us. Once it refuses everybody, each email that is tried within this time uses up an attempt. */
export const SERVING_MS = 5_000;

/** `closed`: emails flow. `open`: the relay is unavailable, and nothing is sent until the back-off is over. `half_open`: one probe is under way, whose result opens or closes the breaker. */
export type RelayBreakerState = 'closed' | 'open' | 'half_open';

/** A circuit breaker for a relay: after a failure, only one email at a time is tried, as a probe. */
export class RelayBreaker {
  private current: RelayBreakerState = 'closed';
  private backOffMs = 0;
  /** When the back-off ends (`open`), or when the probe is given up (`half_open`). */
  private untilMs = 0;
  /** When it opened or closed last. */
  private changedAtMs = Number.NEGATIVE_INFINITY;
  private succeededAtMs = Number.NEGATIVE_INFINITY;

  /** @param nowMs a monotonic clock, in milliseconds */
  constructor(readonly nowMs: () => number = () => performance.now()) {}

  /**
   * Begins a transmission if that is permitted; when not `closed`, the permitted one is the only probe.
   *
   * @returns whether it is; if so, `succeeded()`, `failed()` or `abandoned()` must be called afterwards
   */
  tryBegin(): boolean {
    if (this.current === 'closed') return true;
    if (this.nowMs() < this.untilMs) return false;
    this.current = 'half_open';
    this.untilMs = this.nowMs() + PROBE_DEADLINE_MS;
    return true;
  }

  /** The relay has answered about an email: it has accepted the envelope, or accepted or refused the email. */
  succeeded(): void {
    this.succeededAtMs = this.nowMs();
    if (this.current !== 'closed') this.changedAtMs = this.succeededAtMs;
    this.current = 'closed';
    this.backOffMs = 0;
  }

  /**
   * The verdict was `relay_unavailable`, or the relay has not answered the probe.
   *
   * @param begunAtMs when the transmission began, by `nowMs`
   * @returns whether this has opened the breaker
   */
  failed(begunAtMs: number): boolean {
    // Connections that were being opened when the breaker opened fail too, up to a greeting timeout later. That is the same failure: it must neither double the
    // back-off nor open the breaker again after a probe has succeeded.
    if (this.current === 'open' || begunAtMs < this.changedAtMs) return false;
    this.backOffMs = Math.min(this.backOffMs * 2 || FIRST_BACK_OFF_MS, MAX_BACK_OFF_MS);
    this.changedAtMs = this.nowMs();
    this.untilMs = this.changedAtMs + this.backOffMs;
    this.current = 'open';
    return true;
  }

  /**
   * A transmission has shown nothing about the relay: it was not begun, failed because of a fault of ours, or was refused while others are served, or without
   * asking the relay. If it was the probe, another may begin at once.
   *
   * @param begunAtMs as for `failed`
   */
  abandoned(begunAtMs: number): void {
    if (this.current !== 'half_open' || begunAtMs < this.changedAtMs) return;
    this.current = 'open';
    this.untilMs = this.nowMs();
  }

  /** Whether the relay has answered about an email within the last five seconds, and has not failed since. */
  get isServing(): boolean {
    return this.current === 'closed' && this.nowMs() - this.succeededAtMs < SERVING_MS;
  }

  get state(): RelayBreakerState {
    return this.current;
  }

  /** How long to wait before trying again; 0 when closed. While a probe is under way its result may come at any time. */
  get retryAfterMs(): number {
    if (this.current === 'closed') return 0;
    const remainingMs = Math.max(0, this.untilMs - this.nowMs());
    return this.current === 'open' ? remainingMs : Math.min(remainingMs, FIRST_BACK_OFF_MS);
  }
}

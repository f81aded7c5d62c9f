/** How long nothing begins after the first failure. */
const FIRST_BACK_OFF_MS = 1_000;
/** The back-off doubles with each probe that fails, up to this. */
const MAX_BACK_OFF_MS = 30_000;
/** After so long a probe without a result is given up, so that another may begin. */
const PROBE_DEADLINE_MS = 60_000;

/**
 * `closed`: emails flow. `open`: the relay is unavailable, nothing begins until the back-off is over. `half_open`: one
 * probe is on its way, and its result opens or closes.
 */
export type RelayBreakerState = 'closed' | 'open' | 'half_open';

/** Keeps a relay that is unavailable from being tried by every email: after a failure one probe at a time goes through. */
export class RelayBreaker {
  private current: RelayBreakerState = 'closed';
  private backOffMs = 0;
  /** When the back-off ends (`open`), or when the probe is given up (`half_open`). */
  private untilMs = 0;

  /** @param nowMs a monotonic clock, in milliseconds */
  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** Whether a transmission may begin, and owes `succeeded()` or `failed()`. One that may although it is not `closed` is the probe, and the only one. */
  mayBegin(): boolean {
    if (this.current === 'closed') return true;
    if (this.nowMs() < this.untilMs) return false;
    this.current = 'half_open';
    this.untilMs = this.nowMs() + PROBE_DEADLINE_MS;
    return true;
  }

  /** The relay has answered about an email: any verdict but `relay_unavailable`. */
  succeeded(): void {
    this.current = 'closed';
    this.backOffMs = 0;
  }

  /** The verdict was `relay_unavailable`. */
  failed(): void {
    // What was under way when it opened fails too; that is the same failure and does not double the back-off.
    if (this.current === 'open') return;
    this.backOffMs = Math.min(this.backOffMs * 2 || FIRST_BACK_OFF_MS, MAX_BACK_OFF_MS);
    this.untilMs = this.nowMs() + this.backOffMs;
    this.current = 'open';
  }

  get state(): RelayBreakerState {
    return this.current;
  }

  /** After how many milliseconds it is worth asking again; 0 when closed. While a probe is under way its result may come any time. */
  get retryAfterMs(): number {
    if (this.current === 'closed') return 0;
    const remainingMs = Math.max(0, this.untilMs - this.nowMs());
    return this.current === 'open' ? remainingMs : Math.min(remainingMs, FIRST_BACK_OFF_MS);
  }
}

import { restMs } from './rest.ts';

/** A look that takes longer is costly. */
const LONG_MS = 500;

/** Something that is looked at again and again, but seldom while that is costly ({@link restMs}). */
export class CostlyLook {
  /** How long the last look took, even if it failed; undefined: there was none. */
  private tookMs: number | undefined;
  private restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly nowMs = () => performance.now()) {}

  /** Whether the last look was fast. */
  get isFast(): boolean {
    return this.tookMs !== undefined && this.tookMs <= LONG_MS;
  }

  /** Looks, unless it is too early after costly looks: undefined. @throws what the look throws */
  async take<Found>(look: () => Promise<Found>): Promise<Found | undefined> {
    const startedAtMs = this.nowMs();
    if (startedAtMs < this.restsUntilMs) return undefined;
    const before = this.isFast ? 0 : (this.tookMs ?? 0);
    try {
      return await look();
    } finally {
      this.tookMs = this.nowMs() - startedAtMs;
      if (!this.isFast) this.restsUntilMs = this.nowMs() + restMs(before, this.tookMs);
    }
  }
}

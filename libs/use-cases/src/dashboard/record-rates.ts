import { hostname } from 'node:os';
import type { Rate, RateStore, RelayView } from '@posthorn/database';
import { counterValues } from '@posthorn/platform';

const EVERY_MS = 10_000;

interface RecordRatesOptions {
  readonly rates: Pick<RateStore, 'add' | 'noteRelays'>;
  /** The relays of this process, as it sees them now; absent: it has none. */
  readonly relays?: () => readonly RelayView[];
  readonly everyMs?: number;
  /** Called with failures to record; the counts are included in the next attempt. */
  readonly onError: (error: unknown) => void;
}

/**
 * Records the metric counters of this process, so that the dashboard can show them without a Prometheus. The last seconds of a killed
 * process are missing; that is acceptable, because nothing is decided by these numbers.
 */
export class RecordRates {
  private readonly recorded = new Map<string, number>();
  private readonly timer: NodeJS.Timeout;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: RecordRatesOptions) {
    this.timer = setInterval(() => this.record(), options.everyMs ?? EVERY_MS).unref();
    this.record();
  }

  /** Records the remaining counts. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.record();
    await this.running;
  }

  /** One at a time, so that counts being written are not written twice. */
  private record(): void {
    this.running = this.running.then(() => this.recordNow()).catch(this.options.onError);
  }

  private async recordNow(): Promise<void> {
    const { rates: store, relays = () => [] } = this.options;
    const counted = await counterValues();
    const rates = counted.map((rate) => ({
      ...rate,
      count: rate.count - (this.recorded.get(keyOf(rate)) ?? 0),
    }));
    await store.add(rates.filter(({ count }) => count > 0));
    for (const rate of counted) this.recorded.set(keyOf(rate), rate.count);
    await store.noteRelays(`${hostname()}:${process.pid}`, relays());
  }
}

function keyOf({ what, label }: Rate): string {
  return `${what} ${label}`;
}

import { sanitizeText } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { ADD_RATES, NOTE_RELAYS, RATES_OF_LAST_HOUR, RELAYS_SEEN } from '../../sql/rates.ts';

/** A count of one kind. */
export interface Rate {
  /** What is counted, such as `email`. */
  readonly what: string;
  /** The label of the metric. */
  readonly label: string;
  readonly count: number;
}

/** A count in one minute. */
export interface RateOfMinute extends Rate {
  readonly minute: Date;
}

/** Whether a relay accepts emails, as seen by one sender. */
export interface RelayView {
  readonly relay: string;
  readonly isUp: boolean;
  /** The stage and the relay's words, if it accepts none. */
  readonly reason?: string | undefined;
}

/** A relay as seen by all senders. */
export interface RelaySeen {
  readonly relay: string;
  /** How many senders have reported recently. */
  readonly senders: number;
  /** For how many of them it accepts emails. */
  readonly up: number;
  readonly seenAt: Date;
  /** Why it does not for the others; null: it does for all. */
  readonly reason: string | null;
}

/** Senders report six times within this time. */
const SEEN_WITHIN_SECONDS = 60;

/** The counts of all workers, over all workspaces. */
export class RateStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Adds to the current minute, by the database's clock. */
  async add(rates: readonly Rate[]): Promise<void> {
    if (rates.length === 0) return;
    // Sorted, so that concurrent calls cannot deadlock.
    const sorted = rates.toSorted((a, b) => (`${a.what} ${a.label}` < `${b.what} ${b.label}` ? -1 : 1));
    const columns = [sorted.map(({ what }) => what), sorted.map(({ label }) => label)];
    await this.database.pool.query(ADD_RATES, [...columns, sorted.map(({ count }) => count)]);
  }

  /** The minutes of the last hour in which something was counted, the oldest first. */
  async lastHour(): Promise<RateOfMinute[]> {
    return (await this.database.pool.query<RateOfMinute>(RATES_OF_LAST_HOUR)).rows;
  }

  /** Records how a sender sees its relays. */
  async noteRelays(observer: string, views: readonly RelayView[]): Promise<void> {
    if (views.length === 0) return;
    const sorted = views.toSorted((a, b) => (a.relay < b.relay ? -1 : 1));
    const reasons = sorted.map(({ reason }) => reason && sanitizeText(reason));
    const columns = [sorted.map(({ relay }) => relay), sorted.map(({ isUp }) => isUp), reasons];
    await this.database.pool.query(NOTE_RELAYS, [observer, ...columns]);
  }

  /** How the running senders see each relay. */
  async relays(): Promise<RelaySeen[]> {
    return (await this.database.pool.query<RelaySeen>(RELAYS_SEEN, [SEEN_WITHIN_SECONDS])).rows;
  }
}

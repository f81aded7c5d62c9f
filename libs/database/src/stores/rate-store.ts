import type { Database } from '../connection.ts';
import { ADD_RATES, NOTE_RELAYS, RATES_OF_LAST_HOUR, RELAYS_SEEN } from '../sql/rates.ts';

/** How many of a kind. */
export interface Rate {
  /** What was counted, such as `email`. */
  readonly what: string;
  /** Of which kind, as the metrics name it. */
  readonly label: string;
  readonly count: number;
}

/** The same in a minute. */
export interface RateOfMinute extends Rate {
  readonly minute: Date;
}

/** Whether a relay takes emails, as a sender sees it. */
interface RelayView {
  readonly relay: string;
  readonly isUp: boolean;
}

/** How the senders see a relay. */
export interface RelaySeen {
  readonly relay: string;
  /** How many senders were seen lately. */
  readonly senders: number;
  /** How many of them see that it takes emails. */
  readonly up: number;
  readonly seenAt: Date;
}

/** Senders report six times within it. */
const SEEN_WITHIN_SECONDS = 60;

/** What the workers have counted, over all workspaces. */
export class RateStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Adds to this minute, by the clock of the database. */
  async add(rates: readonly Rate[]): Promise<void> {
    if (rates.length === 0) return;
    // In order, so that two processes that add at once cannot deadlock.
    const sorted = rates.toSorted((a, b) => (`${a.what} ${a.label}` < `${b.what} ${b.label}` ? -1 : 1));
    const columns = [sorted.map(({ what }) => what), sorted.map(({ label }) => label)];
    await this.database.pool.query(ADD_RATES, [...columns, sorted.map(({ count }) => count)]);
  }

  /** The minutes of the last hour in which something was counted, the oldest first. */
  async lastHour(): Promise<RateOfMinute[]> {
    return (await this.database.pool.query<RateOfMinute>(RATES_OF_LAST_HOUR)).rows;
  }

  /** Notes how a sender sees its relays. */
  async noteRelays(observer: string, views: readonly RelayView[]): Promise<void> {
    if (views.length === 0) return;
    const sorted = views.toSorted((a, b) => (a.relay < b.relay ? -1 : 1));
    const columns = [sorted.map(({ relay }) => relay), sorted.map(({ isUp }) => isUp)];
    await this.database.pool.query(NOTE_RELAYS, [observer, ...columns]);
  }

  /** How the senders that run now see each relay. */
  async relays(): Promise<RelaySeen[]> {
    return (await this.database.pool.query<RelaySeen>(RELAYS_SEEN, [SEEN_WITHIN_SECONDS])).rows;
  }
}

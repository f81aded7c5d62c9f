import type { Database } from '../connection.ts';
import {
  COUNT_DUE_SINCE,
  COUNT_LEASED_BEFORE,
  FAIL_EMAILS,
  LOCK_UNMARKED,
  lockDueBefore,
  MARK_DOUBTFUL,
  NOTE_ALIVE,
  READ_ERA,
  RELEASE_ALL,
  type Unclaimed,
} from '../sql/eras.ts';
import { noteEventsDue } from '../event-bells.ts';
import { transactOn } from '../transaction.ts';
import type { LaneId } from '@posthorn/domain';
import type { OutboxQueue } from './claim.ts';

/** Where the database lives, and whether it was restored and is held back since. */
export interface Era {
  readonly era: number;
  readonly beganAt: Date;
  /** When a scheduler last said that it works here. */
  readonly aliveAt: Date;
  /** False: it was restored or copied, and nothing has worked here yet. */
  readonly isOfHere: boolean;
  /** The database's time. */
  readonly now: Date;
  /** Since when it is held back because it was restored; null: it is not. */
  readonly heldSince: Date | null;
  /** When the dump was made, to the minute; null: it is not held back. */
  readonly dumpedAt: Date | null;
}

/** What waits in a queue, by when it is due. */
export interface DueSince {
  readonly queue: OutboxQueue;
  readonly dueBefore: number;
  readonly dueSince: number;
  readonly later: number;
}

/** More rows are not counted. */
const MOST_COUNTED = 2_000_000;
const UNCLAIMED_STATES: readonly Unclaimed[] = ['waiting', 'ready', 'dead'];

/** The places that the database has lived at, and what to do with what was due when it came to another. */
export class EraStore {
  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {}

  /** Says that a scheduler works here. */
  async noteAlive(): Promise<void> {
    await this.database.pool.query(NOTE_ALIVE);
  }

  async read(): Promise<Era> {
    return (await this.database.pool.query<Era>(READ_ERA)).rows[0]!;
  }

  /** What was due by then, since then, and later; of the first two million rows. */
  async countDueSince(moment: Date): Promise<DueSince[]> {
    return (await this.database.pool.query<DueSince>(COUNT_DUE_SINCE, [moment, MOST_COUNTED])).rows;
  }

  /** Begins an era, and holds everything back, as for a dump that was restored. */
  async beginByHand(): Promise<void> {
    await this.database.pool.query('SELECT begin_era_by_hand()');
  }

  /** Gives up to `limit` emails up that were due before then and that nobody works on; says how many. */
  async failDueBefore(moment: Date, limit: number, detail: object): Promise<number> {
    for (const state of UNCLAIMED_STATES) {
      const failed = await this.failGroup(lockDueBefore(state), moment, limit, detail);
      if (failed > 0) return failed;
    }
    return 0;
  }

  /** How many emails that were due before then somebody still works on, or did when the dump was made. */
  async countLeasedBefore(moment: Date): Promise<number> {
    const { rows } = await this.database.pool.query<{ leased: number }>(COUNT_LEASED_BEFORE, [moment]);
    return rows[0]!.leased;
  }

  /** Makes up to `limit` emails due that were due before then, as ones that may be sent twice; says how many. */
  async markDoubtful(moment: Date, limit: number): Promise<number> {
    for (const lock of [LOCK_UNMARKED, lockDueBefore('waiting')]) {
      const marked = await transactOn(this.database, async (client) => {
        const { rows } = await client.query<{ id: string }>(lock, [moment, limit]);
        if (rows.length > 0) await client.query(MARK_DOUBTFUL, [rows.map(({ id }) => id)]);
        return rows.length;
      });
      if (marked > 0) return marked;
    }
    return 0;
  }

  /** Lets everything go; says how many queues were held back, and whether it was because of a restoration. */
  async release(): Promise<{ resumed: number; wasRestored: boolean }> {
    const { rows } = await this.database.pool.query<{ resumed: number; released: number }>(RELEASE_ALL);
    return { resumed: rows[0]!.resumed, wasRestored: rows[0]!.released > 0 };
  }

  private failGroup(lock: string, moment: Date, limit: number, detail: object): Promise<number> {
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<{ id: string }>(lock, [moment, limit]);
      if (rows.length === 0) return 0;
      const { rows: told } = await client.query<{ failed: number; eventLanes: LaneId[] | null }>(
        FAIL_EMAILS,
        [rows.map(({ id }) => id), detail],
      );
      noteEventsDue(client, told[0]!.eventLanes ?? []);
      return told[0]!.failed;
    });
  }
}

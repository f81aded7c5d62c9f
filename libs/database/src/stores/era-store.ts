import type { Database } from '../connection.ts';
import {
  COUNT_DUE_SINCE,
  COUNT_LEASED_BEFORE,
  FAIL_EMAILS,
  LOCK_READY,
  LOCK_UNMARKED,
  lockDueBefore,
  MARK_DOUBTFUL,
  NOTE_ALIVE,
  READ_ERA,
  READY_EMAILS_AFTER,
  RELEASE_ALL,
} from '../sql/eras.ts';
import { addDueEventLanes } from '../due-event-lanes.ts';
import { transactOn } from '../transaction.ts';
import { type Actor, type JsonObject, type LaneId, FIRST_ID } from '@posthorn/domain';
import type pg from 'pg';
import { ofSystem, recordAudit } from './audit-log-store.ts';
import type { OutboxQueue } from './claim.ts';

/** Where the database lives, and whether it was restored and is held back since. */
interface Era {
  readonly era: number;
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

/** A ready email, by the columns that ready emails are ordered by. */
interface ReadyPlace {
  readonly laneId: string;
  readonly dueAt: string;
  readonly id: string;
}

/** How far a pass over emails that nobody works on has come: dead ones and waiting ones become ready, so the ready ones come last. */
export type PassPlace =
  { readonly state: 'waiting' | 'dead' } | { readonly state: 'ready'; readonly after: ReadyPlace };

/** What a group of a pass came to. */
export interface PassGroup {
  readonly dealtWith: number;
  /** Where the pass goes on; undefined: it has ended. */
  readonly next: PassPlace | undefined;
}

/** More rows are not counted. */
const MAX_COUNTED = 2_000_000;
const DEAD: PassPlace = { state: 'dead' };
const WAITING: PassPlace = { state: 'waiting' };
const BEFORE_ALL_READY: PassPlace = {
  state: 'ready',
  after: { laneId: '', dueAt: '-infinity', id: FIRST_ID },
};

/** The places that the database has lived at, and what to do with what was due when it came to another. */
export class EraStore {
  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {}

  /** Notes that a scheduler works here. */
  async noteAlive(): Promise<void> {
    await this.database.pool.query(NOTE_ALIVE);
  }

  async read(): Promise<Era> {
    return (await this.database.pool.query<Era>(READ_ERA)).rows[0]!;
  }

  /** What was due by then, since then, and later; of the first two million rows. */
  async countDueSince(moment: Date): Promise<DueSince[]> {
    return (await this.database.pool.query<DueSince>(COUNT_DUE_SINCE, [moment, MAX_COUNTED])).rows;
  }

  /** Begins an era, and holds everything back, as for a dump that was restored; the system's log says so. */
  beginByHand(actor: Actor): Promise<void> {
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<{ now: Date }>('SELECT now() AS now, begin_era_by_hand()');
      await recordAudit(client, rows[0]!.now.getTime(), ofSystem('database.restored', actor, {}));
    });
  }

  /** Gives up as many as `limit` emails that were due before then and that nobody works on: the next ones of a pass over all of them. */
  failDueBefore(moment: Date, limit: number, detail: object, place: PassPlace = DEAD): Promise<PassGroup> {
    return this.dealWith({ moment, limit, place, lockReady: LOCK_READY }, async (client, ids) => {
      const { rows } = await client.query<{ eventLanes: LaneId[] | null }>(FAIL_EMAILS, [ids, detail]);
      addDueEventLanes(client, rows[0]!.eventLanes ?? []);
    });
  }

  /** How many emails that were due before then somebody still works on, or did when the dump was made. */
  async countLeasedBefore(moment: Date): Promise<number> {
    const { rows } = await this.database.pool.query<{ leased: number }>(COUNT_LEASED_BEFORE, [moment]);
    return rows[0]!.leased;
  }

  /**
   * Makes as many as `limit` emails that were due before then due now, marked as ones that may be sent twice: the next ones of a pass over all of them.
   * Those whose worker died are marked anyway.
   */
  markDoubtful(moment: Date, limit: number, place: PassPlace = WAITING): Promise<PassGroup> {
    return this.dealWith({ moment, limit, place, lockReady: LOCK_UNMARKED }, async (client, ids) => {
      await client.query(MARK_DOUBTFUL, [ids]);
    });
  }

  /**
   * Releases everything; says how many queues were held back, and whether that was because of a restoration. If any was, the system's log says so.
   *
   * @param detail what the log says beside the queues
   */
  release(actor: Actor, detail: JsonObject): Promise<{ resumed: number; wasRestored: boolean }> {
    return transactOn(this.database, async (client) => {
      const { queues, wasRestored, now } = (await client.query<ReleasedRow>(RELEASE_ALL)).rows[0]!;
      const change = ofSystem('sending.resumed', actor, { queues, ...detail });
      if (queues.length > 0) await recordAudit(client, now.getTime(), change);
      return { resumed: queues.length, wasRestored };
    });
  }

  private dealWith(
    pass: Pass,
    deal: (client: pg.PoolClient, ids: readonly string[]) => Promise<void>,
  ): Promise<PassGroup> {
    return transactOn(this.database, async (client) => {
      const { ids, next } = await (pass.place.state === 'ready'
        ? lockReadyAfter(client, pass, pass.place.after)
        : lockAtFront(client, pass, pass.place.state));
      if (ids.length > 0) await deal(client, ids);
      return { dealtWith: ids.length, next };
    });
  }
}

interface ReleasedRow {
  readonly queues: string[];
  readonly wasRestored: boolean;
  readonly now: Date;
}

interface Pass {
  readonly moment: Date;
  readonly limit: number;
  readonly place: PassPlace;
  readonly lockReady: string;
}

interface LockedGroup {
  readonly ids: readonly string[];
  readonly next: PassPlace | undefined;
}

/** What was dealt with is no longer at the front, so the pass stays there until nothing is left. */
async function lockAtFront(
  client: pg.PoolClient,
  { moment, limit, place }: Pass,
  state: 'dead' | 'waiting',
): Promise<LockedGroup> {
  const { rows } = await client.query<{ id: string }>(lockDueBefore(state), [moment, limit]);
  if (rows.length > 0) return { ids: rows.map(({ id }) => id), next: place };
  return { ids: [], next: state === 'dead' ? WAITING : BEFORE_ALL_READY };
}

async function lockReadyAfter(
  client: pg.PoolClient,
  { moment, limit, lockReady }: Pass,
  { laneId, dueAt, id }: ReadyPlace,
): Promise<LockedGroup> {
  const seen = await client.query<ReadyPlace>(READY_EMAILS_AFTER, [laneId, dueAt, id, limit]);
  const last = seen.rows.at(-1);
  if (last === undefined) return { ids: [], next: undefined };
  const { rows } = await client.query<{ id: string }>(lockReady, [seen.rows.map((row) => row.id), moment]);
  return { ids: rows.map((row) => row.id), next: { state: 'ready', after: last } };
}

import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import {
  COUNT_DUE_SINCE,
  LOCK_READY,
  LOCK_UNMARKED,
  MARK_DOUBTFUL,
  NOTE_ALIVE,
  READ_ERA,
  READY_EMAILS_AFTER,
  RELEASE_ALL,
} from '../../sql/eras.ts';
import { ARE_LEFT_BEFORE, lockDueBefore } from '../../sql/held-emails.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { FIRST_ID } from '@posthorn/kernel';
import type { Actor, JsonObject } from '@posthorn/domain';
import type pg from 'pg';
import { ofSystem, recordAudit } from '../workspaces/audit-log-store.ts';
import type { OutboxQueue } from '../outbox/claim.ts';
import { failEmails } from '../outbox/held-email-store.ts';

/** The newest era, and whether sending is paused because the database was restored. */
interface Era {
  /** When a scheduler last recorded that it is running on this database. */
  readonly aliveAt: Date;
  /** False: the database was restored or copied, and no scheduler has run on it yet. */
  readonly isOfHere: boolean;
  /** The database's time. */
  readonly now: Date;
  /** Since when sending is paused because of a restore; null: it is not. */
  readonly heldSince: Date | null;
  /** When the dump was made, to the minute; null: sending is not paused. */
  readonly dumpedAt: Date | null;
}

/** The rows of a queue, counted by when they are due. */
export interface DueSince {
  readonly queue: OutboxQueue;
  readonly dueBefore: number;
  readonly dueSince: number;
  readonly later: number;
}

/** A position in the order of ready emails. */
interface ReadyPosition {
  readonly laneId: string;
  readonly dueAt: string;
  readonly id: string;
}

/** The position of a pass over unclaimed emails. Dead and waiting ones may become ready meanwhile, so the ready ones come last. */
export type PassPosition =
  { readonly state: 'waiting' | 'dead' } | { readonly state: 'ready'; readonly after: ReadyPosition };

/** The result of one group of a pass. */
export interface PassGroup {
  readonly processed: number;
  /** Where the pass continues; undefined: it has ended. */
  readonly next: PassPosition | undefined;
}

/** The rows of the outbox, counted by when they are due. */
export interface CountedDueSince {
  readonly queues: readonly DueSince[];
  /** False: there are more rows than were counted. */
  readonly areAll: boolean;
}

/** More rows are not counted: half a million take up to 2 s on a busy machine, and a statement may take 5 s. */
const MAX_COUNTED = 500_000;
const DEAD: PassPosition = { state: 'dead' };
const WAITING: PassPosition = { state: 'waiting' };
const BEFORE_ALL_READY: PassPosition = {
  state: 'ready',
  after: { laneId: '', dueAt: '-infinity', id: FIRST_ID },
};

/** The eras of the database, and what to do after a restore with emails that were due before. */
export class EraStore {
  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {}

  /** Records that a scheduler is running on this database. */
  async noteAlive(): Promise<void> {
    await this.database.pool.query(NOTE_ALIVE);
  }

  async read(): Promise<Era> {
    return (await this.database.pool.query<Era>(READ_ERA)).rows[0]!;
  }

  /** Counts the rows due before a time, those due since, and those due later, of so many rows. */
  async countDueSince(moment: Date, maxRows = MAX_COUNTED): Promise<CountedDueSince> {
    const { rows } = await this.database.pool.query<DueSince>(COUNT_DUE_SINCE, [moment, maxRows]);
    const counted = rows.reduce(
      (sum, { dueBefore, dueSince, later }) => sum + dueBefore + dueSince + later,
      0,
    );
    return { queues: rows, areAll: counted < maxRows };
  }

  /** Begins an era and pauses sending, as after a restore, and records this in the system's audit log. */
  beginByHand(actor: Actor): Promise<void> {
    return transactOn(this.database, async (client) => {
      const { rows } = await client.query<{ now: Date }>('SELECT now() AS now, begin_era_by_hand()');
      await recordAudit(client, rows[0]!.now.getTime(), ofSystem('database.restored', actor, {}));
    });
  }

  /** Marks unclaimed emails that were due before `moment` as failed: the next `limit` ones of a pass over all of them. */
  failDueBefore(
    moment: Date,
    limit: number,
    detail: object,
    position: PassPosition = DEAD,
  ): Promise<PassGroup> {
    return this.processGroup({ moment, limit, position, lockReady: LOCK_READY }, (client, ids) =>
      failEmails(client, ids, detail),
    );
  }

  /** Whether the outbox still has emails that were due before `moment`: leased, perhaps by a process of the time of the dump, or locked by somebody. */
  async areLeftBefore(moment: Date): Promise<boolean> {
    const { rows } = await this.database.pool.query<{ areLeft: boolean }>(ARE_LEFT_BEFORE, [moment, null]);
    return rows[0]!.areLeft;
  }

  /**
   * Makes unclaimed emails that were due before `moment` due now, marked as possible duplicates: the next `limit` ones of a pass over all of them.
   * Those whose worker died are already marked.
   */
  markDoubtful(moment: Date, limit: number, position: PassPosition = WAITING): Promise<PassGroup> {
    return this.processGroup({ moment, limit, position, lockReady: LOCK_UNMARKED }, async (client, ids) => {
      await client.query(MARK_DOUBTFUL, [ids]);
    });
  }

  /** Records in the system's audit log that emails are given up before everything is resumed. */
  async recordBegun(actor: Actor, failBefore: string): Promise<void> {
    const { now } = await this.read();
    const change = ofSystem('sending.resumed', actor, { failBefore, begun: true });
    await transactOn(this.database, (client) => recordAudit(client, now.getTime(), change));
  }

  /**
   * Resumes everything that was paused at a time, and records this in the system's audit log if any queue was, or it was recorded that this began.
   *
   * @param detail recorded with the names of the queues
   * @param moment when the operator began to resume, by the database's clock
   * @returns the queues that were paused, and whether that was because of a restore
   */
  release(
    actor: Actor,
    detail: JsonObject,
    moment: Date,
  ): Promise<{ queues: readonly string[]; wasRestored: boolean }> {
    return transactOn(this.database, async (client) => {
      const { queues, wasRestored, now } = (await client.query<ReleasedRow>(RELEASE_ALL, [moment])).rows[0]!;
      const change = ofSystem('sending.resumed', actor, { queues, ...detail });
      if (queues.length > 0 || detail['failBefore'] !== undefined)
        await recordAudit(client, now.getTime(), change);
      else await awaitStandby(client);
      return { queues, wasRestored };
    });
  }

  private processGroup(
    pass: Pass,
    process: (client: pg.PoolClient, ids: readonly string[]) => Promise<void>,
  ): Promise<PassGroup> {
    return transactOn(this.database, async (client) => {
      const { ids, next } = await (pass.position.state === 'ready'
        ? lockReadyAfter(client, pass, pass.position.after)
        : lockAtFront(client, pass, pass.position.state));
      if (ids.length > 0) await process(client, ids);
      return { processed: ids.length, next };
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
  readonly position: PassPosition;
  readonly lockReady: string;
}

interface LockedGroup {
  readonly ids: readonly string[];
  readonly next: PassPosition | undefined;
}

/** Processed emails leave the front of their index, so the pass stays there until none is left. */
async function lockAtFront(
  client: pg.PoolClient,
  { moment, limit, position }: Pass,
  state: 'dead' | 'waiting',
): Promise<LockedGroup> {
  const { rows } = await client.query<{ id: string }>(lockDueBefore(state), [moment, limit, null]);
  if (rows.length > 0) return { ids: rows.map(({ id }) => id), next: position };
  return { ids: [], next: state === 'dead' ? WAITING : BEFORE_ALL_READY };
}

async function lockReadyAfter(
  client: pg.PoolClient,
  { moment, limit, lockReady }: Pass,
  { laneId, dueAt, id }: ReadyPosition,
): Promise<LockedGroup> {
  const seen = await client.query<ReadyPosition>(READY_EMAILS_AFTER, [laneId, dueAt, id, limit]);
  const last = seen.rows.at(-1);
  if (last === undefined) return { ids: [], next: undefined };
  const { rows } = await client.query<{ id: string }>(lockReady, [seen.rows.map((row) => row.id), moment]);
  return { ids: rows.map((row) => row.id), next: { state: 'ready', after: last } };
}

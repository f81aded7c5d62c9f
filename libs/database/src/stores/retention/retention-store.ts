import { EXHAUSTED_KEPT_DAYS, type Retention, type RetentionSubject } from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../../connection/connection.ts';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import {
  FINISHED_OF,
  GO_ON_WITH_ROUND,
  LONGEST_RETENTION,
  NEEDED_DELIVERIES,
  NEXT_EVENTS,
  OLD_EMAILS,
  OPEN_ROUNDS,
  PUT_ROUND_OFF,
  REMOVE_CONTENTS,
  REMOVE_EMAILS,
  TAKE_ROUND,
} from '../../sql/retention.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { deliveriesOf, idsOf, removeFinishedEvents, removeFrom } from './removed-rows.ts';

/** The result of one group. */
interface RemovedGroup {
  readonly subject: RetentionSubject;
  /** How many contents, emails or events were removed. */
  readonly removed: number;
}

/** The progress of removal in a workspace. */
interface Round {
  readonly workspaceId: string;
  readonly subject: RetentionSubject;
  readonly days: number;
  readonly seenEra: number;
  readonly seenXid: string;
  readonly seenTo: string;
}

/** A group of a round: what was removed, and where the next one begins. */
interface Group extends Pick<Round, 'seenEra' | 'seenXid' | 'seenTo'> {
  readonly removed: number;
  readonly isLast: boolean;
}

interface OldEvent {
  readonly id: string;
  readonly era: number;
  readonly xid: string;
  readonly isOld: boolean;
}

/** For how long a month stays after its end, because emails whose ids are of its last moment may be accepted a moment later. */
const LEAST_DAYS = 1;

/**
 * Removes data that is past its retention: whole months by a DROP; data of workspaces with a shorter retention earlier, in groups. Keeps
 * whatever is not finished. Idempotent, and safe to run concurrently.
 */
export class RetentionStore {
  private readonly size = new AdaptiveGroupSize();

  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {}

  /** The longest retention of any workspace; `common` is that of workspaces without one of their own. */
  async longest(common: Retention): Promise<Retention> {
    const { rows } = await this.database.pool.query<Retention>(LONGEST_RETENTION, valuesOf(common));
    return rows[0]!;
  }

  /** Drops one month of emails, or of their contents, that is past the longest retention. @returns how many tables were dropped; 0: there is no such month */
  async dropOldEmails({ metadataDays, contentDays }: Retention): Promise<number> {
    const sql = 'SELECT drop_old_emails($1, $2) AS dropped';
    const values = [metadataDays, Math.max(contentDays, LEAST_DAYS)];
    const { rows } = await this.database.pool.query<{ dropped: number }>(sql, values);
    return rows[0]!.dropped;
  }

  /** Creates rounds for the workspaces that need one and have none. */
  async openRounds(common: Retention): Promise<void> {
    await this.database.pool.query(OPEN_ROUNDS, valuesOf(common));
  }

  /**
   * Removes the next group of the workspace whose round has been due longest, in one short transaction. A round whose group fails is postponed by some
   * minutes, so that it does not block the others.
   *
   * @param max size of a group, in emails or events; fewer are removed if it runs out of time
   * @returns undefined when no round is due
   */
  async removeGroup(common: Retention, max: number): Promise<RemovedGroup | undefined> {
    let round: Round | undefined;
    try {
      return await this.size.run(max, (rows) =>
        transactOn(this.database, async (client) => {
          round = (await client.query<Round>(TAKE_ROUND, valuesOf(common))).rows[0];
          return round && removeOf(client, round, rows);
        }),
      );
    } catch (error) {
      // The first error is the one to report: if this fails too, the round only comes again sooner.
      if (round !== undefined) await this.putOff(round).catch(() => undefined);
      throw error;
    }
  }

  private async putOff({ workspaceId, subject }: Round): Promise<void> {
    await this.database.pool.query(PUT_ROUND_OFF, [workspaceId, subject]);
  }
}

async function removeOf(client: pg.ClientBase, round: Round, max: number): Promise<RemovedGroup> {
  const { workspaceId, subject, days } = round;
  const remove = subject === 'events' ? removeOldEvents : removeOldEmails;
  const { removed, isLast, seenEra, seenXid, seenTo } = await remove(client, round, max);
  const values = [workspaceId, subject, seenEra, seenXid, seenTo, isLast, days];
  await client.query(GO_ON_WITH_ROUND, values);
  return { subject, removed };
}

function valuesOf({ contentDays, metadataDays, eventDays }: Retention): number[] {
  return [contentDays, metadataDays, eventDays];
}

async function removeOldEmails(client: pg.ClientBase, round: Round, max: number): Promise<Group> {
  const { workspaceId, subject, days, seenEra, seenXid } = round;
  const seen = await idsOf(client, OLD_EMAILS, [workspaceId, round.seenTo, days, max]);
  const [table, statements] =
    subject === 'content' ? ['email_contents', REMOVE_CONTENTS] : ['emails', REMOVE_EMAILS];
  const removed = await removeFrom(client, statements, await idsOf(client, FINISHED_OF, [seen]));
  const seenTo = seen.at(-1) ?? round.seenTo;
  return { removed: removed[table]!, isLast: seen.length < max, seenEra, seenXid, seenTo };
}

async function removeOldEvents(client: pg.ClientBase, round: Round, max: number): Promise<Group> {
  const position = [round.workspaceId, round.seenEra, round.seenXid, round.seenTo];
  const { rows: seen } = await client.query<OldEvent>(NEXT_EVENTS, [...position, round.days, max]);
  const old = seen.filter(({ isOld }) => isOld).map(({ id }) => id);
  const deliveries = await deliveriesOf(client, old);
  const needed = await idsOf(client, NEEDED_DELIVERIES, [
    deliveries.map(({ id }) => id),
    EXHAUSTED_KEPT_DAYS,
  ]);
  const { removed } = await removeFinishedEvents(client, old, deliveries, needed);
  // The feed is ordered by transactions, so a young event is followed by old ones for seconds at most; those are of the next round.
  const last = seen.findLast(({ isOld }) => isOld);
  return {
    removed: removed['events']!,
    isLast: seen.length < max || !seen.at(-1)!.isOld,
    seenEra: last?.era ?? round.seenEra,
    seenXid: last?.xid ?? round.seenXid,
    seenTo: last?.id ?? round.seenTo,
  };
}

import { EXHAUSTED_KEPT_DAYS, type Retention, type RetentionSubject } from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../connection.ts';
import { GroupSize } from '../group-size.ts';
import {
  DELIVERIES_OF,
  FINISHED_OF,
  GO_ON_WITH_ROUND,
  LONGEST_RETENTION,
  NEEDED_DELIVERIES,
  NEXT_EVENTS,
  OLD_EMAILS,
  OPEN_ROUNDS,
  PUT_ROUND_OFF,
  REMOVE_CONTENTS,
  REMOVE_DELIVERIES,
  REMOVE_EMAILS,
  REMOVE_EVENTS,
  REMOVE_KNOWN_OF_EMAILS,
  TAKE_ROUND,
} from '../sql/retention.ts';
import { transactOn } from '../transaction.ts';

/** What became of a group that was looked at. */
export interface RemovedGroup {
  readonly subject: RetentionSubject;
  /** How many emails lost their content, or how many emails or events went. */
  readonly removed: number;
}

/** How far a workspace has been looked through. */
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

/**
 * Removes what is past its time: whole months by a DROP, and before that what a workspace keeps for less long, group by group. What is not
 * finished stays. All of it may run twice, and at once.
 */
export class RetentionStore {
  private readonly size = new GroupSize();

  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {}

  /** The longest time that any workspace keeps each; `common` is what those keep that have no days of their own. */
  async longest(common: Retention): Promise<Retention> {
    const { rows } = await this.database.pool.query<Retention>(LONGEST_RETENTION, valuesOf(common));
    return rows[0]!;
  }

  /** Drops one month of emails, or of what they said, that is past the longest time; says how many tables there were, 0: there is none. */
  async dropOldEmails({ metadataDays, contentDays }: Retention): Promise<number> {
    const sql = 'SELECT drop_old_emails($1, $2) AS dropped';
    const { rows } = await this.database.pool.query<{ dropped: number }>(sql, [metadataDays, contentDays]);
    return rows[0]!.dropped;
  }

  /** Takes up the workspaces that have to be looked through and are not yet. */
  async openRounds(common: Retention): Promise<void> {
    await this.database.pool.query(OPEN_ROUNDS, valuesOf(common));
  }

  /**
   * Looks at the next group of the workspace that has waited longest, in one short transaction. One in which something fails waits for some
   * minutes, so that it does not keep the others from theirs.
   *
   * @param most how many emails or events a group has; fewer, where it runs out of time
   * @returns undefined when nobody is to be looked through just now
   */
  async removeGroup(common: Retention, most: number): Promise<RemovedGroup | undefined> {
    let round: Round | undefined;
    try {
      return await this.size.take(most, (rows) =>
        transactOn(this.database, async (client) => {
          round = (await client.query<Round>(TAKE_ROUND, valuesOf(common))).rows[0];
          return round && removeOf(client, round, rows);
        }),
      );
    } catch (error) {
      // What has failed is what is told: if this fails too, the round comes again sooner.
      if (round !== undefined) await this.putOff(round).catch(() => undefined);
      throw error;
    }
  }

  private async putOff({ workspaceId, subject }: Round): Promise<void> {
    await this.database.pool.query(PUT_ROUND_OFF, [workspaceId, subject]);
  }
}

async function removeOf(client: pg.ClientBase, round: Round, most: number): Promise<RemovedGroup> {
  const { workspaceId, subject, days } = round;
  const { removed, isLast, ...seen } =
    subject === 'events' ? await removeEvents(client, round, most) : await removeEmails(client, round, most);
  await client.query(GO_ON_WITH_ROUND, [
    ...[workspaceId, subject, seen.seenEra, seen.seenXid, seen.seenTo, isLast, days],
  ]);
  return { subject, removed };
}

function valuesOf({ contentDays, metadataDays, eventDays }: Retention): number[] {
  return [contentDays, metadataDays, eventDays];
}

async function idsOf(client: pg.ClientBase, sql: string, values: unknown[]): Promise<string[]> {
  return (await client.query<{ id: string }>(sql, values)).rows.map(({ id }) => id);
}

async function removeEmails(client: pg.ClientBase, round: Round, most: number): Promise<Group> {
  const { workspaceId, subject, days, seenEra, seenXid } = round;
  const seen = await idsOf(client, OLD_EMAILS, [workspaceId, round.seenTo, days, most]);
  const finished = await idsOf(client, FINISHED_OF, [seen]);
  const [first, rest] =
    subject === 'content' ? [REMOVE_CONTENTS, []] : [REMOVE_EMAILS, REMOVE_KNOWN_OF_EMAILS];
  const { rowCount } = await client.query(first, [finished]);
  for (const sql of rest) await client.query(sql, [finished]);
  const seenTo = seen.at(-1) ?? round.seenTo;
  return { removed: rowCount ?? 0, isLast: seen.length < most, seenEra, seenXid, seenTo };
}

async function removeEvents(client: pg.ClientBase, round: Round, most: number): Promise<Group> {
  const place = [round.workspaceId, round.seenEra, round.seenXid, round.seenTo];
  const { rows: seen } = await client.query<OldEvent>(NEXT_EVENTS, [...place, round.days, most]);
  const removed = await removeFinished(
    client,
    seen.filter(({ isOld }) => isOld).map(({ id }) => id),
  );
  // The feed is ordered by transactions, so a young event is followed by old ones for seconds at most; those are of the next round.
  const last = seen.findLast(({ isOld }) => isOld);
  return {
    ...{ removed, isLast: seen.length < most || !seen.at(-1)!.isOld },
    seenEra: last?.era ?? round.seenEra,
    seenXid: last?.xid ?? round.seenXid,
    seenTo: last?.id ?? round.seenTo,
  };
}

/** Removes those of the events that nothing is due of, with their deliveries; says how many. */
async function removeFinished(client: pg.ClientBase, eventIds: readonly string[]): Promise<number> {
  const { rows: deliveries } = await client.query<{ id: string; eventId: string }>(DELIVERIES_OF, [eventIds]);
  const all = deliveries.map(({ id }) => id);
  const needed = new Set(await idsOf(client, NEEDED_DELIVERIES, [all, EXHAUSTED_KEPT_DAYS]));
  const free = new Set(await idsOf(client, FINISHED_OF, [[...eventIds, ...all]]));
  const stays = new Set(
    deliveries.filter(({ id }) => needed.has(id) || !free.has(id)).map(({ eventId }) => eventId),
  );
  const goes = eventIds.filter((id) => free.has(id) && !stays.has(id));
  const theirs = deliveries
    .filter(({ eventId }) => !stays.has(eventId) && free.has(eventId))
    .map(({ id }) => id);
  for (const sql of REMOVE_DELIVERIES) await client.query(sql, [theirs]);
  return (await client.query(REMOVE_EVENTS, [goes])).rowCount ?? 0;
}

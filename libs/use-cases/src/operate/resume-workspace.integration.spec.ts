import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  AuditLogStore,
  type Database,
  HeldEmailStore,
  IdentityStore,
  OutboxStore,
  PausedLaneStore,
  WorkspaceStore,
} from '@posthorn/database';
import { bulkLane, type LaneId, nowLane, operator, POSTHORN, retryLaneOf } from '@posthorn/domain';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { addIdentity } from './add-identity.ts';
import { createWorkspace } from './create-workspace.ts';
import { listPauses, pauseSending, resumeSending } from './pause-sending.ts';
import { resumeWorkspace } from './resume-workspace.ts';
import { scheduleEmails } from './schedule-emails.fixture.ts';

const MINUTE_MS = 60_000;
const LEASE_MS = 60_000;
const ada = operator('ada');

const database = await openTestDatabase(2);
const pausedLanes = new PausedLaneStore(database);
let shop: WorkspaceId;
let other: WorkspaceId;

beforeEach(async () => {
  [shop, other] = [await openWorkspace('The shop'), await openWorkspace('Another')];
});

async function openWorkspace(name: string): Promise<WorkspaceId> {
  const { id } = await createWorkspace(new WorkspaceStore(database), ada, name, null);
  await addIdentity(new IdentityStore(database), id, POSTHORN, { domain: 'example.com', verified: true });
  return id;
}

/** @returns the ids in the database of emails that are due after this time from now */
function accept(laneId: LaneId, workspaceId: WorkspaceId, dueInMs: number, count = 1): Promise<string[]> {
  return scheduleEmails(database, { workspaceId, laneId, dueInMs, count });
}

async function statuses(ids: readonly string[]): Promise<string[]> {
  const { rows } = await database.pool.query<{ status: string }>(
    'SELECT DISTINCT status::text FROM emails WHERE id = ANY ($1::uuid[])',
    [ids],
  );
  return rows.map(({ status }) => status);
}

/** Those of them whose timelines say that they may have arrived nevertheless. */
async function marked(ids: readonly string[]): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `SELECT email_id AS id FROM email_events WHERE email_id = ANY ($1::uuid[]) AND duplicate_possible AND kind = 'FAILED'`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** What its audit log has of the resumptions of the shop. */
async function resumptions(): Promise<readonly object[]> {
  const action = 'workspace.resumed';
  const oldest = { limit: 10, sort: 'createdAt.asc' } as const;
  return (await new AuditLogStore(database).list(shop, oldest, { action })).items;
}

/** A second ago, because the clock of the database may be behind. */
const justNow = (): string => new Date(Date.now() - 1_000).toISOString();
const resume = (failBefore = justNow()): ReturnType<typeof resumeWorkspace> =>
  resumeWorkspace({ held: new HeldEmailStore(database), pausedLanes }, shop, ada, { failBefore });

describe('Resuming a workspace without what waits in it', () => {
  it('fails its emails that were due before a time, and no others', async () => {
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    const outbox = new OutboxStore(database);
    const ready = [
      ...(await accept(bulkLane(shop), shop, -MINUTE_MS, 600)),
      ...(await accept(nowLane(shop), shop, -MINUTE_MS, 3)),
      ...(await accept(retryLaneOf(nowLane(shop)), shop, -MINUTE_MS, 4)),
    ];
    await outbox.makeReady(5_000);
    const waiting = [
      ...(await accept(bulkLane(shop), shop, -MINUTE_MS, 2)),
      ...(await accept(retryLaneOf(nowLane(shop)), shop, -MINUTE_MS)),
    ];
    const later = await accept(bulkLane(shop), shop, MINUTE_MS, 2);
    const others = await accept(bulkLane(other), other, -MINUTE_MS, 2);
    expect(await resume()).toEqual({ whose: shop, wasPaused: true, allEmailsArePaused: false, failed: 610 });
    expect(await statuses([...ready, ...waiting])).toEqual(['FAILED']);
    expect(await statuses([...later, ...others])).toEqual(['SCHEDULED']);
    expect(await listPauses(pausedLanes)).toEqual([]);
    const { rows } = await database.pool.query(
      `SELECT detail ->> 'reason' AS reason, count(*)::int FROM email_events JOIN emails ON emails.id = email_id
       WHERE workspace_id = $1 GROUP BY 1`,
      [uuidOf(shop)],
    );
    expect(rows).toEqual([{ reason: 'held_back', count: 610 }]);
  });

  it('fails also those that become ready while they are looked for', async () => {
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    const waiting = await accept(bulkLane(shop), shop, -MINUTE_MS, 2);
    const client = await database.pool.connect();
    let statements = 0;
    const query = async (sql: string, values?: unknown[]): Promise<unknown> => {
      // After BEGIN and the first statement.
      if ((statements += 1) === 3) await new OutboxStore(database).makeReady(5_000);
      return client.query(sql, values);
    };
    const connect = () => Promise.resolve({ query, release: () => client.release() });
    const held = new HeldEmailStore({ ...database, pool: { connect } as unknown as Database['pool'] });
    expect(await held.failDueBefore(shop, new Date(), 250, {})).toBe(2);
    expect(await statuses(waiting)).toEqual(['FAILED']);
  });

  it('waits for what is being sent, and then fails it if it was not sent', async () => {
    const taken = await accept(bulkLane(shop), shop, -MINUTE_MS);
    const outbox = new OutboxStore(database);
    await outbox.makeReady(5_000);
    const lanes = [{ laneId: bulkLane(shop), maxRows: 10 }];
    expect(await outbox.claimEmails(lanes, 2 ** 40, LEASE_MS)).toHaveLength(1);
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    const held = new HeldEmailStore(database);
    const areLeft = Promise.withResolvers<boolean>();
    held.areLeftBefore = async (...asked) => {
      const answer = await HeldEmailStore.prototype.areLeftBefore.apply(held, asked);
      areLeft.resolve(answer);
      return answer;
    };
    const resuming = resumeWorkspace({ held, pausedLanes }, shop, ada, { failBefore: justNow() });
    expect([await areLeft.promise, await statuses(taken)]).toEqual([true, ['SENT']]);
    await database.pool.query(
      `UPDATE outbox SET lease_until = now() - interval '1 s' WHERE subject_id = ANY ($1)`,
      [taken],
    );
    expect(await resuming).toMatchObject({ failed: 1 });
    expect(await statuses(taken)).toEqual(['FAILED']);
    expect(await marked(taken)).toEqual(taken);
  });

  it('marks those whose worker died as possibly sent, also when they are ready again, and no others', async () => {
    const given = await accept(bulkLane(shop), shop, -2 * MINUTE_MS);
    const dead = await accept(bulkLane(shop), shop, -MINUTE_MS);
    const outbox = new OutboxStore(database);
    await outbox.makeReady(5_000);
    const lanes = [{ laneId: bulkLane(shop), maxRows: 10 }];
    const [first] = await outbox.claimEmails(lanes, 2 ** 40, LEASE_MS);
    await outbox.giveBack([first!]);
    const ids = [...given, ...dead];
    await database.pool.query(
      `UPDATE outbox SET lease_until = now() - interval '1 hour' WHERE subject_id = ANY ($1)`,
      [dead],
    );
    await outbox.revive(0, 10, 5);
    const neverClaimed = await accept(bulkLane(shop), shop, -MINUTE_MS);
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    expect(await resume()).toMatchObject({ failed: 3 });
    expect(await statuses([...ids, ...neverClaimed])).toEqual(['FAILED']);
    expect(await marked([...ids, ...neverClaimed])).toEqual(dead);
  });

  it('fails also what somebody else had locked, such as a scheduler that was making it ready', async () => {
    const due = await accept(bulkLane(shop), shop, -MINUTE_MS);
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    const scheduler = await database.pool.connect();
    await scheduler.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
    await scheduler.query(`UPDATE outbox SET state = 'ready' WHERE lane_id = $1`, [bulkLane(shop)]);
    const held = new HeldEmailStore(database);
    const areLeft: boolean[] = [];
    held.areLeftBefore = async (...asked) => {
      areLeft.push(await HeldEmailStore.prototype.areLeftBefore.apply(held, asked));
      await scheduler.query('COMMIT');
      return areLeft.at(-1)!;
    };
    const resumed = await resumeWorkspace({ held, pausedLanes }, shop, ada, { failBefore: justNow() });
    scheduler.release();
    expect([areLeft, resumed.failed, await statuses(due)]).toEqual([[true, false], 1, ['FAILED']]);
  });

  it('says in its audit log who began it, and what came of it', async () => {
    await accept(bulkLane(shop), shop, -MINUTE_MS, 2);
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    const failBefore = justNow();
    await resume(failBefore);
    expect(await resumptions()).toMatchObject([
      { actor: ada, subjectId: shop, detail: { failBefore, begun: true } },
      { actor: ada, subjectId: shop, detail: { failBefore, failed: 2 } },
    ]);
  });

  it('says what came of it also where somebody else has resumed it meanwhile', async () => {
    await accept(bulkLane(shop), shop, -MINUTE_MS, 2);
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    const failBefore = justNow();
    const held = new HeldEmailStore(database);
    held.areLeftBefore = async () => {
      await resumeSending(pausedLanes, shop, operator('bob'));
      return false;
    };
    const overtaken = await resumeWorkspace({ held, pausedLanes }, shop, ada, { failBefore });
    expect(overtaken).toMatchObject({ wasPaused: false, failed: 2 });
    expect(await resumptions()).toMatchObject([
      { actor: ada, detail: { failBefore, begun: true } },
      { actor: operator('bob') },
      { actor: ada, detail: { failBefore, failed: 2 } },
    ]);
  });

  it('is refused while its emails may leave, and for a time that has not come', async () => {
    const due = await accept(bulkLane(shop), shop, -MINUTE_MS);
    await expect(resume()).rejects.toMatchObject({ statusCode: 409 });
    await pauseSending(pausedLanes, shop, ada, 'An unwanted campaign');
    const inAMinute = new Date(Date.now() + MINUTE_MS).toISOString();
    await expect(resume(inAMinute)).rejects.toMatchObject({ statusCode: 400 });
    expect(await statuses(due)).toEqual(['SCHEDULED']);
  });
});

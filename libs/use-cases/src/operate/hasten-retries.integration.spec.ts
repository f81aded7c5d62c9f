import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  AuditLogStore,
  IdentityStore,
  OutboxStore,
  PausedLaneStore,
  RetryStore,
  WebhookSearchStore,
  WorkspaceStore,
} from '@posthorn/database';
import {
  bulkLane,
  type LaneId,
  nowLane,
  operator,
  POSTHORN,
  RETRY_AFTER_SECONDS,
  retryLaneOf,
} from '@posthorn/domain';
import { newId, SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { addIdentity } from './add-identity.ts';
import { createWorkspace } from './create-workspace.ts';
import { hastenRetries, retriesOf, retriesOfLane } from './hasten-retries.ts';
import { pauseSending } from './pause-sending.ts';
import { scheduleEmails } from './schedule-emails.fixture.ts';

const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;
const NONE = { hastened: 0, paused: 0, alreadyDue: 0, inProgress: 0 };
const ada = operator('ada');

const database = await openTestDatabase(3);
const store = new RetryStore(database);
const outbox = new OutboxStore(database);
const stores = { workspaces: new WorkspaceStore(database), webhooks: new WebhookSearchStore(database) };
let shop: WorkspaceId;
let other: WorkspaceId;

beforeEach(async () => {
  await database.pool.query('DELETE FROM outbox; DELETE FROM paused_lanes');
  [shop, other] = [await openWorkspace('The shop'), await openWorkspace('Another')];
});

async function openWorkspace(name: string): Promise<WorkspaceId> {
  const { id } = await createWorkspace(stores.workspaces, ada, name, null);
  await addIdentity(new IdentityStore(database), id, POSTHORN, { domain: 'example.com', verified: true });
  return id;
}

interface Retries {
  readonly laneId?: LaneId;
  readonly workspaceId?: WorkspaceId;
  readonly count?: number;
  readonly to?: string;
  readonly attempts?: number;
  /** How long ago they were first due. */
  readonly ageMs?: number;
  /** Why the last attempt failed. */
  readonly detail?: object;
}

/** Emails of the shop that wait for their next attempt for an hour. @returns their ids in the database */
async function retries({
  workspaceId = shop,
  laneId = retryLaneOf(nowLane(workspaceId)),
  count = 1,
  to = 'a@b.example',
  attempts = 5,
  ageMs = HOUR_MS,
  detail = { class: 'soft_bounce' },
}: Retries = {}): Promise<string[]> {
  const ids = await scheduleEmails(database, { workspaceId, laneId, dueInMs: -ageMs, count, to });
  await database.pool.query(
    `WITH released AS (UPDATE emails SET status = 'SENT' WHERE id = ANY ($1::uuid[])),
          told AS (INSERT INTO email_events (email_id, kind, claims, detail) SELECT id, 'DELAYED', 1, $3 FROM unnest($1::uuid[]) AS id)
     UPDATE outbox SET state = 'waiting', due_at = now() + interval '1 hour', claims = 1, attempts = $2 WHERE subject_id = ANY ($1::uuid[])`,
    [ids, attempts, detail],
  );
  return ids;
}

/** Those that are due. */
async function due(ids: readonly string[]): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `SELECT subject_id AS id FROM outbox WHERE subject_id = ANY ($1::uuid[]) AND due_at <= now()`,
    [ids],
  );
  return ids.filter((id) => rows.some((row) => row.id === id));
}

async function attemptsOf([id]: readonly string[]): Promise<number> {
  const { rows } = await database.pool.query<{ attempts: number }>(
    'SELECT attempts FROM outbox WHERE subject_id = $1',
    [id],
  );
  return rows[0]!.attempts;
}

async function audited(
  workspaceId: WorkspaceId,
  action: 'workspace.retries_hastened' | 'sending.retries_hastened',
) {
  const oldest = { limit: 10, sort: 'createdAt.asc' } as const;
  return (await new AuditLogStore(database).list(workspaceId, oldest, { action })).items;
}

const hasten = (...[of = retriesOf(shop), wanted, options]: Partial<Wish>) =>
  hastenRetries(store, of, ada, wanted, options);
type Wish = [
  of: Parameters<typeof hastenRetries>[1],
  wanted: Parameters<typeof hastenRetries>[3],
  options: Parameters<typeof hastenRetries>[4],
];

describe('Hastening the retries of a workspace', () => {
  it('makes them due, and nothing else: no email that waits for its first attempt, none of others', async () => {
    const waiting = [
      ...(await retries({ count: 3 })),
      ...(await retries({ laneId: bulkLane(shop), count: 2 })),
    ];
    const scheduled = await scheduleEmails(database, {
      workspaceId: shop,
      laneId: bulkLane(shop),
      dueInMs: HOUR_MS,
    });
    const others = await retries({ workspaceId: other });
    expect(await hasten()).toEqual({ whose: shop, ...NONE, hastened: 5, next: undefined });
    expect(await due([...waiting, ...scheduled, ...others])).toEqual(waiting);
    await outbox.makeReady(5_000);
    const lanes = [retryLaneOf(nowLane(shop)), bulkLane(shop)].map((laneId) => ({ laneId, maxRows: 10 }));
    expect(await outbox.claimEmails(lanes, 2 ** 40, LEASE_MS)).toHaveLength(5);
  });

  it('is recorded in its audit log when it begins and when it ends, but not if none waited', async () => {
    expect(await hasten()).toEqual({ whose: shop, ...NONE, next: undefined });
    expect(await audited(shop, 'workspace.retries_hastened')).toEqual([]);
    await retries({ count: 2 });
    await hasten(retriesOf(shop), { domain: 'B.example' });
    expect(await audited(shop, 'workspace.retries_hastened')).toMatchObject([
      { actor: ada, subjectId: shop, detail: { domain: 'B.example', begun: true } },
      { actor: ada, subjectId: shop, detail: { domain: 'B.example', hastened: 2 } },
    ]);
  });

  it('leaves those alone that are due already, are being sent, or are locked by somebody, and counts them', async () => {
    const [ready, taken, locked] = [await retries(), await retries(), await retries()];
    await database.pool.query(`UPDATE outbox SET due_at = now() WHERE subject_id = ANY ($1)`, [
      [...ready, ...taken],
    ]);
    await database.pool.query(
      `UPDATE outbox SET state = 'taken', lease_until = now() + interval '1 minute', claims = 2, unanswered = 1 WHERE subject_id = ANY ($1)`,
      [taken],
    );
    const client = await database.pool.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM outbox WHERE subject_id = ANY ($1) FOR UPDATE', [locked]);
    const found = await hasten();
    await client.query('COMMIT');
    client.release();
    expect(found).toEqual({ whose: shop, ...NONE, alreadyDue: 1, inProgress: 2, next: undefined });
    expect(await hasten()).toMatchObject({ hastened: 1, alreadyDue: 1, inProgress: 1 });
    expect(await hasten()).toMatchObject({ hastened: 0, alreadyDue: 2, inProgress: 1 });
  });

  it('makes paused ones due as well, which still wait', async () => {
    await pauseSending(new PausedLaneStore(database), shop, ada, 'The relay is down');
    await retries();
    expect(await hasten()).toMatchObject({ hastened: 1, paused: 1 });
    await outbox.makeReady(5_000);
    const lanes = [{ laneId: retryLaneOf(nowLane(shop)), maxRows: 10 }];
    expect(await outbox.claimEmails(lanes, 2 ** 40, LEASE_MS)).toEqual([]);
  });

  it('can mean those to a domain', async () => {
    const wanted = await retries({ to: 'a@xn--bcher-kva.example' });
    await retries({ to: 'a@sub.xn--bcher-kva.example' });
    await retries({ to: '"a@xn--bcher-kva.example"@b.example' });
    expect(await hasten(retriesOf(shop), { domain: 'BÜCHER.example' })).toMatchObject({ hastened: 1 });
    expect(await due(wanted)).toEqual(wanted);
  });

  it('can mean those whose last attempt failed in a certain way', async () => {
    const full = await retries({ detail: { class: 'mailbox_full' } });
    const silent = await retries({ detail: { error: 'closed', stage: 'content' } });
    const unsigned = await retries({ detail: { reason: 'unsignable' } });
    const before = await retries({ detail: { class: 'mailbox_full' } });
    await database.pool.query(
      `INSERT INTO email_events (email_id, kind, claims, at, detail) VALUES ($1, 'DELAYED', 2, now() + interval '1 s', '{"class":"policy"}')`,
      [before[0]],
    );
    for (const [failureClass, ids] of [
      ['mailbox_full', full],
      ['no_reply', silent],
      ['other', unsigned],
      ['policy', before],
    ] as const) {
      expect(await hasten(retriesOf(shop), { class: failureClass })).toMatchObject({ hastened: 1 });
      expect(await due([...full, ...silent, ...unsigned, ...before])).toEqual(
        expect.arrayContaining([...ids]),
      );
    }
  });

  it('stops after a time, and continues from there', async () => {
    await retries({ count: 3 });
    const small = Object.create(store) as RetryStore;
    small.hastenNext = (filter, after, _max, change) => store.hastenNext(filter, after, 2, change);
    const first = await hastenRetries(small, retriesOf(shop), ada, {}, { withinMs: 0 });
    expect(first).toMatchObject({ hastened: 2, next: expect.any(String) });
    const rest = await hastenRetries(small, retriesOf(shop), ada, {}, { startAt: first.next });
    expect(rest).toMatchObject({ hastened: 1, alreadyDue: 0, next: undefined });
  });
});

describe('The schedule of a retry that is hastened', () => {
  const [MINUTE_MS, DAY_MS] = [60_000, 24 * HOUR_MS];

  it.each([
    ['uses up its step, as if its time had come', 5, HOUR_MS * 1.5, 5],
    ['is not shortened by doing it again and again', 9, HOUR_MS * 1.5, 5],
    ['has only one step behind it after a minute', 4, MINUTE_MS / 2, 1],
    ['ends with its last step', 15, 2.9 * DAY_MS, 15],
    ['is not changed if it is late, such as after a pause', 2, 3 * DAY_MS, 2],
  ])('%s', async (_, attempts, ageMs, expected) => {
    const ids = await retries({ attempts, ageMs });
    await hasten();
    expect([await due(ids), await attemptsOf(ids)]).toEqual([ids, expected]);
  });

  it('lets no email be given up before its last step', async () => {
    const ids = await retries({ attempts: 1, ageMs: 2.5 * DAY_MS });
    for (let times = 0; times < 2 * RETRY_AFTER_SECONDS.length; times += 1) {
      await database.pool.query(
        `UPDATE outbox SET attempts = attempts + 1, due_at = now() + interval '1 h' WHERE subject_id = ANY ($1)`,
        [ids],
      );
      await hasten();
    }
    expect(await attemptsOf(ids)).toBe(RETRY_AFTER_SECONDS.length - 1);
  });
});

describe('Hastening the retries of a lane', () => {
  it('can mean the single emails of a workspace, or its batches', async () => {
    const single = await retries();
    const bulk = await retries({ laneId: bulkLane(shop) });
    const of = await retriesOfLane(stores, bulkLane(shop));
    expect(await hasten(of)).toMatchObject({ whose: bulkLane(shop), hastened: 1 });
    expect(await due([...single, ...bulk])).toEqual(bulk);
    expect(await audited(shop, 'workspace.retries_hastened')).toMatchObject([
      { subjectId: shop, detail: { lane: bulkLane(shop), begun: true } },
      { subjectId: shop, detail: { lane: bulkLane(shop), hastened: 1 } },
    ]);
  });

  it.each([
    ['everything', 400, /wh_…/],
    [`${newId('wrk', 0)}.events`, 400, /wrk_….retry/],
    [`${newId('wrk', 0)}.retry`, 404, /no workspace/],
    [newId('wh', 0), 404, /no webhook/],
  ])('is refused for %s', async (lane, statusCode, message) => {
    await expect(retriesOfLane(stores, lane)).rejects.toMatchObject({
      statusCode,
      message: expect.stringMatching(message),
    });
  });
});

describe('Hastening all retries', () => {
  it('means those of all workspaces, which the audit log of the system has', async () => {
    await retries();
    await retries({ workspaceId: other });
    expect(await hasten(retriesOf('emails'))).toMatchObject({ whose: 'emails', hastened: 2 });
    expect((await audited(SYSTEM_WORKSPACE_ID, 'sending.retries_hastened')).slice(-2)).toMatchObject([
      { actor: ada, detail: { queue: 'emails', begun: true } },
      { actor: ada, detail: { queue: 'emails', hastened: 2 } },
    ]);
  });

  it('can mean deliveries to webhooks, of which a paused webhook still gets none', async () => {
    const webhook = newId('wh', Date.now());
    const ids = await Promise.all([1, 0].map((attempts) => deliveryOf(webhook, attempts)));
    await database.pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('webhook', $1, 'x')`,
      [webhook],
    );
    expect(await hasten(retriesOf('emails'))).toMatchObject(NONE);
    expect(await hasten(retriesOf('webhooks'))).toMatchObject({ whose: 'webhooks', hastened: 2, paused: 2 });
    expect(await due(ids)).toEqual(ids);
    expect(await Promise.all(ids.map((id) => attemptsOf([id])))).toEqual([1, 0]);
  });

  it('refuses filters of emails for deliveries, and those that mean nothing', async () => {
    for (const [whose, wanted, message] of [
      ['webhooks', { domain: 'b.example' }, /`domain` is known of emails only/],
      ['webhooks', { class: 'blocked' }, /`class` is known of emails only/],
      ['emails', { domain: 'b example' }, /`domain` has the domain/],
      ['emails', { class: 'sent' }, /`class` must be one of unknown_user, .*other/],
    ] as const)
      await expect(hasten(retriesOf(whose), wanted)).rejects.toMatchObject({
        statusCode: 400,
        message: expect.stringMatching(message),
      });
  });

  /** A delivery that waits for its retry. */
  async function deliveryOf(webhook: string, attempts: number): Promise<string> {
    const id = uuidOf(newId('dlv', Date.now() - HOUR_MS));
    await database.pool.query(
      `INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id) VALUES ($1, $2, $1, $1)`,
      [id, uuidOf(shop)],
    );
    await database.pool.query(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, attempts) VALUES ($1, 'webhook', $2, 'waiting', now() + interval '5 h', $3)`,
      [id, webhook, attempts],
    );
    return id;
  }
});

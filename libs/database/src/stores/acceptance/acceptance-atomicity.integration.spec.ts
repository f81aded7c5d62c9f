import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { COMMIT_SENT, createTestDatabase, FaultProxy, type TestDatabase } from '@posthorn/testing';
import { faultOf } from '../../faults/faults.ts';
import { TestStores, rawEmail } from '../../test-stores.fixture.ts';
import type { AcceptableEmail } from './acceptable-email.ts';

const TABLES = ['emails', 'email_contents', 'outbox', 'usage', 'idempotency_keys'];

let testDatabase: TestDatabase;
let proxy: FaultProxy;
let stores: TestStores;
let victim: TestStores;
let acme: WorkspaceId;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await FaultProxy.before(testDatabase.url);
  stores = new TestStores(testDatabase.url);
  victim = new TestStores(proxy.urlFor(testDatabase.url), 2);
  acme = await stores.openWorkspace();
  await stores.accept([rawEmail(acme)], null);
});
afterAll(async () => {
  await Promise.all([stores.close(), victim.close()]);
  await proxy.close();
  await testDatabase.drop();
});

function keyedGroup(key: string): AcceptableEmail[] {
  const expiresAt = new Date(Date.now() + 60_000);
  const idempotency = { key, fingerprint: Buffer.alloc(32), answer: '{}', expiresAt };
  return [rawEmail(acme, { idempotency }), rawEmail(acme), rawEmail(acme)];
}

async function contents(): Promise<Record<string, unknown>> {
  const counts = await Promise.all(TABLES.map((table) => stores.count(table)));
  const [usage] = await stores.ask<{ used: number }>('SELECT sum(accepted)::int AS used FROM usage');
  return { ...Object.fromEntries(TABLES.map((table, n) => [table, counts[n]])), ...usage };
}

function plus(before: Record<string, unknown>, more: Record<string, number>): Record<string, unknown> {
  const added = Object.entries(more).map(([name, count]): [string, number] => [
    name,
    (before[name] as number) + count,
  ]);
  return { ...before, ...Object.fromEntries(added) };
}

/** Terminates the backend of the victim's transaction once it waits for `waitingFor`. */
async function terminateVictim(waitingFor: string): Promise<void> {
  for (;;) {
    const killed = await stores.ask(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE  datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
      [`%${waitingFor}%`],
    );
    if (killed.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('A transaction of acceptance', () => {
  it('writes all of its rows', async () => {
    const before = await contents();
    await stores.accept(keyedGroup('all'), null);
    const three = { emails: 3, email_contents: 3, outbox: 3, used: 3, idempotency_keys: 1 };
    expect(await contents()).toEqual(plus(before, three));
  });

  it.each([
    { place: 'before its first row', lock: 'usage' },
    { place: 'after its outbox rows, before its emails', lock: 'emails' },
    { place: 'between its emails and what they say', lock: 'email_contents' },
  ])('leaves nothing when the server terminates it $place', async ({ lock }) => {
    const before = await contents();
    const group = keyedGroup(`killed at ${lock}`);
    const holder = await stores.database.pool.connect();
    await holder.query('BEGIN');
    if (lock === 'usage') await holder.query('SELECT FROM usage FOR UPDATE');
    else
      await holder.query(
        `INSERT INTO ${lock} SELECT (jsonb_populate_record(r, $1)).* FROM ${lock} r LIMIT 1`,
        [lock === 'emails' ? { id: uuidOf(group[1]!.id) } : { email_id: uuidOf(group[1]!.id) }],
      );
    const attempt = victim.accept(group, null).catch((thrown: unknown) => thrown);
    await terminateVictim('WITH item AS MATERIALIZED');
    const fault = faultOf(await attempt);
    await holder.query('ROLLBACK');
    holder.release();

    expect(fault).toBe('lost');
    expect(await contents()).toEqual(before);
    expect(await stores.acceptance.findAccepted(group.map((email) => email.id))).toEqual(new Set());
  });

  it('leaves nothing when the connection breaks before the server receives the COMMIT', async () => {
    const before = await contents();
    const cut = proxy.cutBefore(COMMIT_SENT);
    const attempt = victim.accept(keyedGroup('unheard'), null).catch((thrown: unknown) => thrown);
    await cut;
    expect(faultOf(await attempt)).toBe('lost');
    expect(await contents()).toEqual(before);
  });

  it('is committed when the connection breaks after the server has received the COMMIT, and its emails are found', async () => {
    const before = await contents();
    const group = keyedGroup('heard');
    const cut = proxy.cutAfter(COMMIT_SENT);
    const attempt = victim.accept(group, null).catch((thrown: unknown) => thrown);
    await cut;
    expect(faultOf(await attempt)).toBe('lost');
    const ids = group.map((email) => email.id);
    expect(await victim.acceptance.findAccepted(ids)).toEqual(new Set(ids));
    const three = { emails: 3, email_contents: 3, outbox: 3, used: 3, idempotency_keys: 1 };
    expect(await contents()).toEqual(plus(before, three));
  });

  it('is refused as `data` when its emails already exist', async () => {
    const group = [rawEmail(acme)];
    await stores.accept(group, null);
    const before = await contents();
    const error: unknown = await stores.accept(group, null).catch((thrown: unknown) => thrown);
    expect(faultOf(error)).toBe('data');
    expect(await contents()).toEqual(before);
  });
});

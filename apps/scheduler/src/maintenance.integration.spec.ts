import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import {
  type Database,
  DomainCheckStore,
  waitForDatabase,
  openDatabase,
  WorkspaceStore,
} from '@posthorn/database';
import { POSTHORN } from '@posthorn/domain';
import { DnsResolver } from '@posthorn/dns';
import { newUuid, uuidOf } from '@posthorn/kernel';
import { createLogger } from '@posthorn/platform';
import type { JobHandlers, RegularJobName } from '@posthorn/queues';
import { createTestDatabase, PATIENT_LIMITS, type TestDatabase } from '@posthorn/testing';
import { CheckDomain, CheckDueDomains } from '@posthorn/use-cases';
import { INTERVALS_MS, maintenanceHandlers } from './maintenance.ts';

const LONG_AGO = '2020-01-01';
const A_MONTH_LATER = '2020-02-01';
const TABLES_OF_A_MONTH = ['events', 'webhook_deliveries', 'webhook_attempts'];
const KEPT = { contentDays: 90, metadataDays: 90, eventDays: 90 };

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { connectMs } = PATIENT_LIMITS;
  database = openDatabase({
    url: testDatabase.url,
    poolSize: 4,
    applicationName: 'test',
    limits: { connectMs },
  });
  await waitForDatabase(database);
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

function fail(error: unknown): never {
  throw error;
}

function handlersOfJobs(): JobHandlers<RegularJobName> {
  const checks = new DomainCheckStore(database);
  const resolver = new DnsResolver({ servers: ['127.0.0.1:1'], timeoutMs: 100 });
  const checkDomain = new CheckDomain({ checks, resolver, spfInclude: undefined, clock: database.clock });
  return maintenanceHandlers({
    database,
    checkDueDomains: new CheckDueDomains({ checks, checkDomain, onError: fail }),
    retention: KEPT,
    logger: createLogger({ LOG_LEVEL: 'fatal' }, 'scheduler'),
  });
}

/** Does all that is done regularly once; gives what failed. */
async function doEverything(): Promise<RegularJobName[]> {
  const handlers = handlersOfJobs();
  const failed: RegularJobName[] = [];
  for (const name of Object.keys(INTERVALS_MS) as RegularJobName[])
    await handlers[name]({ v: 1 }).catch(() => {
      failed.push(name);
    });
  return failed;
}

const tablesOfThen = async (): Promise<string[]> => {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhrelid::regclass::text LIKE '%\\_2020\\_0_'`,
  );
  return rows.map(({ name }) => name);
};
const countRecoveries = async (): Promise<number> =>
  (await database.pool.query('SELECT FROM webhook_recoveries')).rowCount!;

const countKeys = async (): Promise<number> =>
  (await database.pool.query('SELECT FROM idempotency_keys')).rowCount!;

async function leaveExpiredKeys(count: number): Promise<void> {
  const { id } = await new WorkspaceStore(database).create(POSTHORN, 'Acme', null);
  await database.pool.query(
    `INSERT INTO idempotency_keys SELECT $1, 'key ' || n, sha256('x'), '{}', now() FROM generate_series(1, $2::int) n`,
    [uuidOf(id), count],
  );
}

/** Two months of events and a recovery, all of which are long over. */
async function leaveOldThings(): Promise<void> {
  const { pool } = database;
  for (const table of TABLES_OF_A_MONTH)
    for (const month of [LONG_AGO, A_MONTH_LATER])
      await pool.query('SELECT make_partition($1, $2)', [table, month]);
  const workspace = uuidOf((await new WorkspaceStore(database).create(POSTHORN, 'Acme', null)).id);
  const [webhook, recovery] = [newUuid(Date.now()), newUuid(Date.now())];
  await pool.query(
    `INSERT INTO webhooks (id, workspace_id, url, events, token) VALUES ($1, $2, 'https://example.com', '{CONTACT_DELETED}', '')`,
    [webhook, workspace],
  );
  await pool.query(
    `INSERT INTO webhook_recoveries (id, workspace_id, webhook_id, since, until, state, seen_to, created_at, served_at, finished_at)
     VALUES ($1, $2, $3, $4, $4::timestamptz + interval '1 day', 'COMPLETED', $1, $4, $4, $4)`,
    [recovery, workspace, webhook, LONG_AGO],
  );
}

it('forgets old events and recoveries though what is held for too long cannot be given up', async () => {
  await leaveOldThings();
  expect(await tablesOfThen()).toHaveLength(2 * TABLES_OF_A_MONTH.length);
  await database.pool.query('ALTER TABLE paused_lanes RENAME TO lanes_elsewhere');
  const failed = await doEverything();
  await database.pool.query('ALTER TABLE lanes_elsewhere RENAME TO paused_lanes');
  expect([await tablesOfThen(), await countRecoveries()]).toEqual([[], 0]);
  expect(failed).toContain('deliveries.expire');
  expect(await doEverything()).toEqual([]);
});

it('deletes all keys that have expired, also where fewer at a time are all that there is time for', async () => {
  await leaveExpiredKeys(6_000);
  await database.pool.query(`
    CREATE FUNCTION run_out_of_time() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM gone) > 2000 THEN RAISE query_canceled; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER few_at_a_time AFTER DELETE ON idempotency_keys
    REFERENCING OLD TABLE AS gone EXECUTE FUNCTION run_out_of_time()`);
  await handlersOfJobs()['idempotency-keys.expire']({ v: 1 });
  expect(await countKeys()).toBe(0);
});

it('ends before its worker would look stuck, however slow the database is, and the next one goes on', async () => {
  await leaveExpiredKeys(12_000);
  let nowMs = performance.now();
  const slow = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 10_000));
  await handlersOfJobs()['idempotency-keys.expire']({ v: 1 });
  slow.mockRestore();
  expect(await countKeys()).toBeGreaterThan(0);
  await handlersOfJobs()['idempotency-keys.expire']({ v: 1 });
  expect(await countKeys()).toBe(0);
});

it('deletes keys and links whose time is over, and no others', async () => {
  const workspace = uuidOf((await new WorkspaceStore(database).create(POSTHORN, 'Acme', null)).id);
  await database.pool.query(
    `INSERT INTO idempotency_keys (workspace_id, key, fingerprint, answer, expires_at)
     VALUES ($1, 'over', sha256('x'), '{}', now()), ($1, 'valid', sha256('x'), '{}', now() + interval '1 hour')`,
    [workspace],
  );
  await database.pool.query(
    `INSERT INTO verification_links (id, identity_id, workspace_id, token_hash, address_hash, created_at, expires_at)
     SELECT gen_random_uuid(), gen_random_uuid(), $1, sha256(age::text::bytea), sha256('x'), now() - age, now() - age + interval '1 day'
     FROM   unnest('{23 hours, 25 hours}'::interval[]) AS t (age)`,
    [workspace],
  );
  expect(await doEverything()).toEqual([]);
  const { rows } = await database.pool.query(
    `SELECT key AS left FROM idempotency_keys UNION ALL SELECT 'a link that works' FROM verification_links WHERE expires_at > now()
     UNION ALL SELECT 'one that does not' FROM verification_links WHERE expires_at <= now() ORDER BY 1`,
  );
  expect(rows).toEqual([{ left: 'a link that works' }, { left: 'valid' }]);
});

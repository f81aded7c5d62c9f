import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from '@jest/globals';
import { judgeOwnership } from '@posthorn/domain';
import { PATIENT_LIMITS, PrivatePostgres } from '@posthorn/testing';
import pg from 'pg';
import { type Database, openDatabase, waitForDatabase } from './connection.ts';
import { ExaminedDatabase } from '../examined-database.ts';
import { requireOwner } from './ownership.ts';
import { UpkeepStore } from '../stores/retention/upkeep-store.ts';

/** Months ahead that have no partitions yet. */
const MONTHS_AHEAD = 5;

let postgres: PrivatePostgres;
let admin: pg.Client;
let ownerUrl: string;
let appUrl: string;

beforeAll(async () => {
  postgres = await PrivatePostgres.start();
  admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  [ownerUrl, appUrl] = ['shop', 'app'].map((name) => {
    const url = new URL(postgres.url);
    [url.username, url.password] = [name, name];
    return url.href;
  }) as [string, string];
  await admin.query(`CREATE ROLE shop LOGIN PASSWORD 'shop'; ALTER DATABASE posthorn OWNER TO shop`);
  const { rows } = await admin.query<{ statement: string }>(
    `SELECT format('ALTER %s %s OWNER TO shop', CASE WHEN prokind IS NULL THEN 'TABLE' ELSE 'FUNCTION' END, name) AS statement
     FROM (SELECT NULL::"char" AS prokind, oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
           UNION ALL
           SELECT prokind, oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace) o`,
  );
  await admin.query(rows.map(({ statement }) => statement).join(';'));
});
afterAll(async () => {
  await admin.end();
  await postgres.close();
});
beforeEach(async () => {
  await admin.query(`
    CREATE ROLE app LOGIN PASSWORD 'app';
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO app`);
});
afterEach(() => admin.query('REASSIGN OWNED BY app TO shop; DROP OWNED BY app; DROP ROLE app'));

async function withDatabase<Result>(
  url: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'test', limits: PATIENT_LIMITS });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

const start = (url: string): Promise<void> =>
  withDatabase(url, (database) =>
    waitForDatabase(
      database,
      () => undefined,
      () => requireOwner(database),
    ),
  );

const makePartitions = (url: string, months: number): Promise<number> =>
  withDatabase(url, (database) => new UpkeepStore(database).makePartitions(months));

async function judged(url: string): Promise<ReturnType<typeof judgeOwnership>> {
  const examined = new ExaminedDatabase(url);
  try {
    return judgeOwnership(await examined.readOwnership());
  } finally {
    await examined.close();
  }
}

describe('The partitions of later months', () => {
  it('are the business of the owner of the tables: nothing is found', async () => {
    await start(ownerUrl);
    expect(await judged(ownerUrl)).toMatchObject({ kind: 'good' });
  });

  it('cannot be made by a role that may only read and write, which is told at the start and by the doctor', async () => {
    await withDatabase(appUrl, waitForDatabase);
    await expect(makePartitions(appUrl, MONTHS_AHEAD)).rejects.toMatchObject({ code: '42501' });
    await expect(start(appUrl)).rejects.toThrow(
      'The role app may not create the partitions of later months, because the tables belong to shop: use the role that npm run migrate ran as in DATABASE_URL',
    );
    expect(await judged(appUrl)).toMatchObject({
      kind: 'fault',
      mend: expect.stringContaining('ALTER ROLE "app"'),
    });
  });

  it('cannot be made by an owner of the tables that may create none', async () => {
    await admin.query('ALTER DATABASE posthorn OWNER TO postgres');
    await expect(start(ownerUrl)).rejects.toThrow('GRANT CREATE ON SCHEMA public TO "shop"');
    const { kind, mend } = await judged(ownerUrl);
    expect(kind).toBe('fault');
    await admin.query(mend!);
    await start(ownerUrl);
    expect(await judged(ownerUrl)).toMatchObject({ kind: 'good' });
    await admin.query('REVOKE CREATE ON SCHEMA public FROM shop; ALTER DATABASE posthorn OWNER TO shop');
  });

  it('belong to a member of the owner that makes them, so that a migration fails, until it acts as the owner', async () => {
    await admin.query('GRANT shop TO app');
    await start(appUrl);
    expect(await judged(appUrl)).toMatchObject({
      kind: 'advice',
      found: expect.stringContaining('will not'),
    });
    expect(await makePartitions(appUrl, MONTHS_AHEAD)).toBeGreaterThan(0);
    const migrate = (): Promise<unknown> =>
      withDatabase(ownerUrl, ({ pool }) =>
        pool.query('ALTER TABLE emails ADD COLUMN later int; ALTER TABLE emails DROP COLUMN later'),
      );
    await expect(migrate()).rejects.toThrow(/must be owner of table emails_/);
    const found = await judged(ownerUrl);
    expect(found).toMatchObject({ kind: 'advice', found: expect.stringContaining('do not belong to shop') });

    await admin.query('REASSIGN OWNED BY app TO shop; ALTER ROLE app SET role = shop');
    await start(appUrl);
    expect(await makePartitions(appUrl, MONTHS_AHEAD + 1)).toBeGreaterThan(0);
    await migrate();
    for (const url of [ownerUrl, appUrl]) expect(await judged(url)).toMatchObject({ kind: 'good' });
  });
});

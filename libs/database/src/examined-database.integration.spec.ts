import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { idFromUuid } from '@posthorn/kernel';
import { PrivatePostgres } from '@posthorn/testing';
import pg from 'pg';
import { ExaminedDatabase } from './examined-database.ts';
import { CHECK_DISK_SPACE } from './sql/examination.ts';

describe('Examining a database', () => {
  let postgres: PrivatePostgres;
  let examined: ExaminedDatabase;

  beforeAll(async () => {
    const settings = { max_prepared_transactions: '4', wal_level: 'replica', max_wal_size: '32MB' };
    postgres = await PrivatePostgres.start({ settings });
    examined = new ExaminedDatabase(postgres.url);
  });
  afterAll(async () => {
    await examined.close();
    await postgres.close();
  });

  async function connect(database = 'posthorn'): Promise<pg.Client> {
    const url = new URL(postgres.url);
    url.pathname = `/${database}`;
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    return client;
  }

  it('counts connections against the limits of the database and the role, which many providers set', async () => {
    const owner = await connect();
    await owner.query(`CREATE ROLE tenant LOGIN PASSWORD 'tenant' CONNECTION LIMIT 4`);
    await owner.query('ALTER DATABASE posthorn CONNECTION LIMIT 50');
    const url = new URL(postgres.url);
    [url.username, url.password] = ['tenant', 'tenant'];
    const asTenant = new ExaminedDatabase(url.href);
    try {
      const { connectionLimits } = await asTenant.readServer();
      expect(connectionLimits).toEqual([
        { of: 'server', connections: expect.any(Number), maximum: expect.any(Number) },
        { of: 'database', connections: expect.any(Number), maximum: 50 },
        { of: 'role', connections: 1, maximum: 4 },
      ]);
      // Neither limits a superuser.
      expect((await examined.readServer()).connectionLimits).toMatchObject([
        { of: 'server' },
        { of: 'database', maximum: null },
        { of: 'role', maximum: null },
      ]);
    } finally {
      await asTenant.close();
      await owner.query('ALTER DATABASE posthorn CONNECTION LIMIT -1');
      await owner.query('DROP ROLE tenant');
      await owner.end();
    }
  });

  it('blames a lock, and not the connection, also for checks that had to wait while others waited for that lock', async () => {
    const holder = await connect();
    await holder.query('BEGIN; LOCK TABLE outbox');
    const checks = await Promise.allSettled(Array.from({ length: 7 }, () => examined.findDue()));
    await holder.end();
    const reasons = checks.map((check) =>
      check.status === 'rejected' ? (check.reason as unknown) : undefined,
    );
    expect(reasons).toEqual(checks.map(() => expect.objectContaining({ code: '55P03' })));
  });

  it('looks for room on the disk for as much as a segment of the WAL takes', async () => {
    const client = await connect();
    const explained = CHECK_DISK_SPACE.replace('SELECT', 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT');
    const results: unknown = await client.query(explained);
    await client.end();
    const [, { rows }] = results as [unknown, pg.QueryResult<{ 'QUERY PLAN': [{ Plan: object }] }>];
    const { Plan } = rows[0]!['QUERY PLAN'][0];
    const blocks = (Plan as { 'Temp Written Blocks': number })['Temp Written Blocks'];
    expect(blocks * 8192).toBeGreaterThanOrEqual(16 * 1024 * 1024);
  });

  it('finds the partitions that are missing of its own tables, and of no others', async () => {
    const client = await connect();
    await client.query(
      'CREATE SCHEMA theirs CREATE TABLE measurements (at timestamptz) PARTITION BY RANGE (at)',
    );
    expect(await examined.findMissingPartitions()).toEqual({ thisMonth: [], nextMonth: [] });
    const { rows } = await client.query<{ name: string }>(
      `SELECT 'emails_' || to_char(now() AT TIME ZONE 'UTC' + interval '1 month', 'YYYY_MM') AS name`,
    );
    await client.query(`DROP TABLE ${rows[0]!.name}`);
    expect(await examined.findMissingPartitions()).toEqual({ thisMonth: [], nextMonth: [rows[0]!.name] });
    await client.end();
  });

  it('finds workspaces without an editor whose webhooks or domains may fail, and no others', async () => {
    const client = await connect();
    const addWorkspace = async (sql: string, role?: string): Promise<string> => {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO workspaces (id, name) VALUES (gen_random_uuid(), 'Acme') RETURNING id`,
      );
      const { id } = rows[0]!;
      await client.query(sql, [id]);
      if (role !== undefined)
        await client.query(
          `WITH person AS (INSERT INTO users (id, email, name, created_at) VALUES (gen_random_uuid(), $1::text, 'Ada', now()) RETURNING id)
           INSERT INTO memberships (id, workspace_id, user_id, role, created_at) SELECT gen_random_uuid(), $1::uuid, id, $2::role, now() FROM person`,
          [id, role],
        );
      return id;
    };
    const webhook = (status: string): string =>
      `INSERT INTO webhooks (id, workspace_id, url, events, token, status) VALUES (gen_random_uuid(), $1, 'https://a.example', '{EMAIL_SENT}', '', '${status}')`;
    const identity = (kind: string, value: string, status: string, isVouched = false): string =>
      `INSERT INTO identities (id, workspace_id, kind, value, status, is_vouched, verified_at)
       VALUES (gen_random_uuid(), $1, '${kind}', '${value}', '${status}', ${isVouched}, ${status === 'PENDING' ? 'NULL' : 'now()'})`;
    try {
      await addWorkspace(webhook('ACTIVE'), 'EDITOR');
      await addWorkspace(webhook('DISABLED'));
      await addWorkspace(identity('address', 'a@a.example', 'VERIFIED'));
      await addWorkspace(identity('domain', 'a.example', 'PENDING'));
      await addWorkspace(identity('domain', 'a.example', 'VERIFIED', true));
      expect(await examined.findWithoutEditor()).toEqual({ count: 0, first: null });

      const ids = [
        await addWorkspace(webhook('ACTIVE'), 'VIEWER'),
        await addWorkspace(identity('domain', 'a.example', 'VERIFIED')),
        await addWorkspace(identity('domain', 'a.example', 'AT_RISK')),
      ];
      const first = idFromUuid('wrk', ids.sort()[0]!);
      expect(await examined.findWithoutEditor()).toEqual({ count: 3, first });
    } finally {
      await client.end();
    }
  });

  it('finds prepared transactions of all databases, also after a restart, with what they lock and who waits for them', async () => {
    const elsewhere = await connect('postgres');
    await elsewhere.query("BEGIN; CREATE TABLE emails (); PREPARE TRANSACTION 'elsewhere'");
    await elsewhere.end();
    const [holder, waiter] = await Promise.all([connect(), connect()]);
    await holder.query(`BEGIN; LOCK TABLE emails IN SHARE MODE; PREPARE TRANSACTION 'it''s locked'`);
    await holder.query(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES (gen_random_uuid(), 'email', 'x', 'waiting', now())`,
    );
    await holder.query("BEGIN; UPDATE outbox SET lane_id = 'y'; PREPARE TRANSACTION 'row'");
    const { rows } = await waiter.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const pid = [rows[0]!.pid];
    const ended = waiter.query(`UPDATE outbox SET lane_id = 'z'`).catch((error: unknown) => error);
    const isWaiting = 'SELECT FROM pg_locks WHERE NOT granted AND pid = $1';
    while ((await holder.query(isWaiting, pid)).rowCount === 0) await sleep(20);
    const none = { lockedTables: [], waiters: 0, database: 'posthorn', role: 'postgres' };
    const found = [
      { ...none, quotedId: "'elsewhere'", database: 'postgres' },
      { ...none, quotedId: "'it''s locked'", lockedTables: ['emails'] },
      { ...none, quotedId: "'row'", waiters: 1 },
    ].map((one) => ({ ...one, openSeconds: expect.any(Number) }));
    expect(await examined.findPreparedTransactions()).toEqual(found);
    await holder.query('SELECT pg_cancel_backend($1)', pid);
    expect(await ended).toMatchObject({ code: '57014' });
    await Promise.all([holder.end(), waiter.end()]);
    await postgres.restart();
    found[2] = { ...found[2]!, waiters: 0 };
    expect(await examined.findPreparedTransactions()).toEqual(found);
  });

  it('finds replication slots that nothing reads, and how much they retain', async () => {
    const client = await connect();
    await client.query("SELECT pg_create_physical_replication_slot('gone', true)");
    const [before] = await examined.findInactiveSlots();
    expect(before).toMatchObject({ name: 'gone', exceedsMaxWalSize: false, snapshotAge: 0 });
    for (let segment = 0; segment < 4; segment += 1)
      await client.query("SELECT pg_logical_emit_message(false, 'test', 'x'), pg_switch_wal()");
    await client.query('CHECKPOINT');
    const [after] = await examined.findInactiveSlots();
    expect(after).toMatchObject({ exceedsMaxWalSize: true });
    expect(after!.retainedBytes).toBeGreaterThan(48 * 1024 ** 2);
    await client.end();
  });
});

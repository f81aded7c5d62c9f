import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  copyTestDatabase,
  DnsServer,
  type EndedProgram,
  PrivateRedis,
  runToEnd,
  SmtpSink,
  type TestDatabase,
  testPostgresUrl,
} from '@posthorn/testing';
import { createWorkspace } from '../operate/create-workspace.ts';
import { POSTHORN } from '@posthorn/domain';
import { waitForDatabase, openDatabase, WorkspaceStore } from '@posthorn/database';
import type { Examination } from './examine.ts';

let testDatabase: TestDatabase;
let redis: PrivateRedis;
let relay: SmtpSink;
let dns: DnsServer;
let env: Record<string, string>;
let refusesLogin = false;

beforeAll(async () => {
  [testDatabase, redis, relay, dns] = await Promise.all([
    createTestDatabase(),
    PrivateRedis.start({ durable: true }),
    SmtpSink.start({
      auth: true,
      script: (stage) =>
        stage === 'auth' && refusesLogin ? { reply: '535 5.7.8 wrong password' } : undefined,
    }),
    DnsServer.start(),
  ]);
  dns.set('bounces.example.com', { txt: ['v=spf1 -all'] });
  // Otherwise as old as the template of all test databases.
  await ask('UPDATE event_eras SET alive_at = now()');
  await seeRelay(true);
  const login = new URL(relay.url);
  env = {
    DATABASE_URL: testDatabase.url,
    REDIS_URL: redis.url,
    SMTP_URL: `smtp://ada:right@${login.host}`,
    ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    DNS_SERVERS: dns.address,
    // It answers in this very process, which a busy machine may let wait.
    DNS_TIMEOUT_MS: '10000',
    PUBLIC_URL: 'http://posthorn.invalid',
    TRACKING_URL: 'http://localhost:3000',
  };
});
afterAll(async () => {
  await Promise.all([redis.close(), relay.close(), dns.close()]);
  await testDatabase.drop();
});

/** Runs the doctor as a child process. */
function doctor(change: Record<string, string | undefined> = {}, args: string[] = []): Promise<EndedProgram> {
  return runToEnd(['tools/posthorn.mjs', 'doctor', ...args], { ...env, ...change });
}

/** The result of each check. */
async function findings(change: Record<string, string | undefined> = {}): Promise<Map<string, string>> {
  const { stdout, stderr } = await doctor(change, ['--json']);
  expect(stderr).toBe('');
  const { results } = JSON.parse(stdout) as Examination;
  return new Map(
    results.map(({ check, kind, found, mend }) => [check, `${kind}: ${found}${mend ? ` | ${mend}` : ''}`]),
  );
}

async function ask(sql: string, url = testDatabase.url): Promise<void> {
  const database = openDatabase({ url, poolSize: 2, applicationName: 'test' });
  try {
    await database.pool.query(sql);
  } finally {
    await database.close();
  }
}

/** As a sender reports it, and for longer than a sender's report counts. */
function seeRelay(isUp: boolean): Promise<void> {
  return ask(`INSERT INTO relay_views (relay, observer, is_up, seen_at) VALUES ('relay:25', 'test', ${isUp}, now() + interval '1 hour')
              ON CONFLICT (relay, observer) DO UPDATE SET is_up = excluded.is_up, seen_at = excluded.seen_at`);
}

describe('The doctor', () => {
  it('finds an installation sound but for what is missing here, and says it to people and machines', async () => {
    const found = await findings();
    const good = [
      'settings',
      'node',
      'postgres.version',
      'postgres.clock',
      'database.migrations',
      'database.owner',
      'database.partitions',
    ];
    good.push(
      'database.secrets',
      'work.restored',
      'work.paused',
      'work.due',
      'work.leases',
      'work.senders',
      'work.outcomes',
      'work.scheduler',
      'work.limits',
    );
    good.push(
      'postgres.room',
      'postgres.collation',
      'postgres.writable',
      'postgres.locks',
      'postgres.transactions',
      'postgres.prepared-transactions',
      'postgres.replication-slots',
      'redis.version',
      'redis.role',
      'redis.changes',
      'redis.eviction',
      'redis.persistence',
      'redis.memory',
      'redis.clock',
      'dns.resolver',
      'reach tracking hosts',
    );
    for (const name of good)
      expect([name, found.get(name)]).toEqual([name, expect.stringMatching(/^good: /)]);
    expect(found.get(`relay ${new URL(relay.url).host}`)).toMatch(
      /^good: it accepts mail from us .* and has accepted our login/,
    );
    // Test servers run with settings that lose data at a power failure.
    expect(found.get('postgres.durability')).toMatch(
      /^fault: fsync and full_page_writes are off.* \| set fsync = on/,
    );
    expect(found.get('reach PUBLIC_URL')).toMatch(/^fault: http:\/\/posthorn.invalid does not answer/);
    expect(found.get('reach TRACKING_URL')).toMatch(
      /^advice: TRACKING_URL is http:\/\/localhost:3000: links in emails lead recipients to their own machine/,
    );
    const { code, stdout } = await doctor();
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ postgres.durability: fsync .*\n {4}set fsync = on/m);
    expect(stdout).toMatch(/\nSomething is wrong \(\d+ faults, 0 unknown, /);
    expect(relay.messages).toEqual([]);
  });

  it('examines everything else when a relay cannot be used because of its URL', async () => {
    const found = await findings({ SMTP_URL: `smtp://joe@relay.example ${relay.url}` });
    expect(found.get('settings')).toMatch(/^fault: SMTP_URL names a user without a password/);
    expect(found.get(`relay ${new URL(relay.url).host}`)).toMatch(/^good: /);
    expect(found.get('redis.version')).toMatch(/^good: /);
  });

  it('knows stores that answer and take nothing', async () => {
    const readOnly = new URL(testDatabase.url);
    readOnly.searchParams.set('options', '-c default_transaction_read_only=on');
    await redis.ask('CONFIG SET maxmemory 1');
    await redis.ask('REPLICAOF 127.0.0.1 1');
    const found = await findings({ DATABASE_URL: readOnly.href });
    await redis.ask('REPLICAOF NO ONE');
    await redis.ask('CONFIG SET maxmemory 0');
    expect(found.get('postgres.writable')).toMatch(
      /^fault: Postgres accepts no writes \(default_transaction_read_only is on\)/,
    );
    expect(found.get('redis.role')).toMatch(/^fault: Redis is a replica .* point REDIS_URL at the primary/);
    expect(found.get('redis.memory')).toMatch(/^fault: .* and takes nothing more: .* raise maxmemory/);
  });

  it('notices that texts are sorted in another way than when the indexes were built, as after an upgrade of the operating system', async () => {
    const url = new URL(testDatabase.url);
    url.pathname += '_moved';
    const name = url.pathname.slice(1);
    await ask(`CREATE DATABASE ${name} LOCALE_PROVIDER icu ICU_LOCALE 'en' LOCALE 'C' TEMPLATE template0`);
    try {
      expect(await runToEnd(['tools/migrate.mjs'], { ...env, DATABASE_URL: url.href })).toMatchObject({
        code: 0,
      });
      await ask(`UPDATE pg_database SET datcollversion = '1.0' WHERE datname = '${name}'`);
      const found = await findings({ DATABASE_URL: url.href });
      const [text, mend] = found.get('postgres.collation')!.split(' | ');
      expect(text).toMatch(
        /^fault: the indexes were built with version 1\.0 of the collation, and Postgres now sorts with [\d.]+:/,
      );
      for (const statement of mend!.split('; ')) await ask(statement, url.href);
      const mended = await findings({ DATABASE_URL: url.href });
      expect(mended.get('postgres.collation')).toMatch(/^good: /);
    } finally {
      await ask(`DROP DATABASE ${name} WITH (FORCE)`);
    }
  });

  it('names the session that has locked what every email needs, also to a role that may not see what that session does', async () => {
    const plain = new URL(testDatabase.url);
    [plain.username, plain.password] = [`${plain.pathname.slice(1)}_plain`, 'secret'];
    const role = plain.username;
    await ask(
      `CREATE ROLE ${role} LOGIN PASSWORD 'secret'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`,
    );
    const holder = openDatabase({ url: testDatabase.url, poolSize: 1, applicationName: 'nightly-report' });
    const client = await holder.pool.connect();
    try {
      await client.query('SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE emails, outbox');
      await sleep(5_000);
      const found = await findings();
      expect(found.get('postgres.locks')).toMatch(
        /^fault: .* pid \d+ \(nightly-report, role \w+, idle in a transaction for \d+ s, has locked emails, outbox.*\) \| .*: SELECT pg_terminate_backend\(\d+\)$/,
      );
      expect(found.get('work.due')).toMatch(/^fault: Another session has locked what this needs/);
      const seen = await findings({ DATABASE_URL: plain.href });
      expect(seen.get('postgres.locks')).toMatch(
        /^fault: .* pid \d+ \(nightly-report, role \w+, has locked emails, outbox/,
      );
    } finally {
      client.release(true);
      await holder.close();
      await ask(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('says of each thing that is broken what it is and how to mend it; none hides another', async () => {
    await redis.ask('CONFIG SET maxmemory-policy allkeys-lru');
    await redis.ask('CONFIG SET appendonly no');
    await ask(`UPDATE event_eras SET alive_at = now() - interval '3 hours'`);
    await ask(`INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, lease_until)
               VALUES (gen_random_uuid(), 'email', 'x', 'taken', now(), now() - interval '5 minutes'),
                      (gen_random_uuid(), 'email', 'x', 'waiting', now() - interval '3 minutes', NULL),
                      (gen_random_uuid(), 'email', 'x', 'ready', now() - interval '2 hours', NULL)`);
    await seeRelay(false);
    await ask(`INSERT INTO rate_minutes (minute, what, label, count)
               VALUES (now() - interval '20 minutes', 'email', 'failed', 900), (now(), 'email', 'delayed', 30), (now(), 'reply', 'rate_limited', 25)`);
    await ask('ALTER TABLE outbox RESET (fillfactor)');
    await ask(
      "DROP TABLE IF EXISTS nothing; DELETE FROM _prisma_migrations WHERE migration_name LIKE '%restored%'",
    );
    refusesLogin = true;
    const found = await findings({
      LEASE_MS: 'soon',
      BOUNCE_DOMAIN: 'bounces.example.com',
      SPF_INCLUDE: '_spf.relay.example',
      INBOUND_PORT: '1',
    });
    const said: [string, RegExp][] = [
      ['settings', /^fault: LEASE_MS is "soon"; it must be a whole number/],
      ['redis.eviction', /^fault: .*allkeys-lru.* \| set maxmemory-policy noeviction/],
      ['redis.persistence', /^advice: .*appendonly no.* \| set appendonly yes/],
      ['work.scheduler', /^fault: no scheduler has reported for 3 h/],
      [
        'work.senders',
        /^fault: senders that a relay refuses.* relay:25 \(1 of 1\); emails wait \| see docs\/runb/,
      ],
      [
        'work.outcomes',
        /^fault: the relay defers most emails: of 30 .* 30 were deferred, 25 of them because emails arrive too fast/,
      ],
      ['work.leases', /^fault: rows have been due for \d min and were not made ready/],
      [
        'work.due',
        /^fault: due emails: 1, events: 0, deliveries: 0; the oldest, .+, for 2 h \| check that senders/,
      ],
      ['database.autovacuum', /^advice: the outbox lacks fillfactor/],
      [
        'database.migrations',
        /^fault: 1 migrations are not applied, the first is .*restored.* \| run npm run migrate/,
      ],
      ['dns.bounces', /^fault: bounces.example.com has no MX record/],
      [
        'dns.bounces-spf',
        /^advice: bounces.example.com, .* does not let the relay send.* \| publish .*include:_spf.relay.example/,
      ],
      ['reach inbound', /^advice: no SMTP server answers at 127.0.0.1, port 1 /],
      ['redis.version', /^good/],
      ['postgres.version', /^good/],
    ];
    for (const [name, words] of said)
      expect([name, found.get(name)]).toEqual([name, expect.stringMatching(words)]);
    const relayFinding = found.get(`relay ${new URL(relay.url).host}`);
    expect(relayFinding).toMatch(
      /^fault: it does not accept mail from us: auth: 535 .* \| correct user and password in SMTP_URL/,
    );
    expect([...found.values()].join()).not.toContain(':right');
  });

  it('finds what was sealed with a key that is lost, and what was restored, and changes nothing', async () => {
    const database = openDatabase({ url: testDatabase.url, poolSize: 2, applicationName: 'test' });
    await waitForDatabase(database);
    const { id } = await createWorkspace(new WorkspaceStore(database), POSTHORN, 'The shop', null);
    await database.pool.query(
      `INSERT INTO webhooks (id, workspace_id, url, events, token)
       SELECT gen_random_uuid(), w.id, 'https://a.example', '{EMAIL_SENT}', '\\x0103' || convert_to('old', 'UTF8') || '\\x00'::bytea
       FROM   workspaces w WHERE NOT w.is_system`,
    );
    expect(id).toMatch(/^wrk_/);
    await database.close();
    await ask(`INSERT INTO usage (workspace_id, month, accepted, granted, monthly_limit)
               SELECT id, date_trunc('month', now() AT TIME ZONE 'UTC'), 90, 1, 100 FROM workspaces WHERE NOT is_system`);
    const copy = await copyTestDatabase(testDatabase);
    try {
      const found = await findings({ DATABASE_URL: copy.url });
      expect(found.get('database.secrets')).toMatch(
        /^fault: 1 of 1 .*webhooks wh_.*the key old is not in ENCRYPTION_KEYS \| .*rotate-token/,
      );
      expect(found.get('work.editors')).toMatch(/^advice: without SYSTEM_FROM .* \| set SYSTEM_FROM/);
      expect(found.get('work.limits')).toMatch(
        new RegExp(`^advice: .* ${id} \\(90 of 100 emails\\); .*--monthly-limit`),
      );
      expect(found.get('work.restored')).toMatch(
        /^advice: the database was restored or copied .*the first app that starts/,
      );
      await ask('SELECT 1', copy.url);
      const then = await findings({ DATABASE_URL: copy.url, SYSTEM_FROM: 'posthorn@example.com' });
      expect(then.get('work.editors')).toMatch(
        new RegExp(`^advice: workspaces without an editor .*: 1, the first is ${id} \\| invite one`),
      );
      expect(then.get('work.restored')).toMatch(
        /^advice: .*Due then and since: email: 0 and 3, event: 0 and 0/,
      );
      expect(then.get('work.paused')).toMatch(/email since .*The database was restored/);
    } finally {
      await copy.drop();
    }
  });

  it('says why no connection to Postgres can be opened, whatever it is needed for', async () => {
    const url = new URL(testDatabase.url);
    url.searchParams.set('sslmode', 'verify-full');
    const found = await findings({ DATABASE_URL: url.href });
    for (const check of ['postgres.version', 'work.due', 'reach tracking hosts'])
      expect(found.get(check)).toMatch(/^fault: Postgres speaks no TLS there/);
  });

  it('ends in time and says what it knows when servers hang or are away', async () => {
    redis.freeze();
    dns.set('example.com', 'silent');
    const away = new URL(testPostgresUrl());
    away.port = '1';
    const { code, stdout } = await doctor({
      DNS_TIMEOUT_MS: '1000',
      DATABASE_URL: away.href,
      SMTP_URL: 'smtp://127.0.0.1:1',
    });
    redis.thaw();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^✗ Nothing answers at 127.0.0.1:1: check .*\n {4}\(postgres.version, postgres.durability, .*\)$/m,
    );
    expect(stdout).toMatch(
      /^[✗?] It does not answer in time.*\n(?: {4}.*\n)? {4}\(redis.version, redis.role, redis.changes, .*\)$/m,
    );
    expect(stdout).toMatch(/^✗ dns.resolver: no answer about example.com: no name server answered/m);
    expect(stdout).toMatch(/^✗ relay 127.0.0.1:1: it does not accept mail from us: connect/m);
    expect(stdout).toMatch(/^✓ node: Node 2/m);
    expect(stdout).not.toContain(away.password);
  });
});

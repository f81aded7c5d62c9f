import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createTestDatabase,
  FaultProxy,
  ProgramUnderTest,
  startApp,
  TestAuthority,
  type TestDatabase,
  testPostgresUrl,
  testRedisUrl,
  uniqueQueuePrefix,
} from '@posthorn/testing';

/** Longer than a label of a name can be, so no name server is asked for it: there may be none that answers. */
const NO_NAME = `${'x'.repeat(64)}.invalid`;

let testDatabase: TestDatabase;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

/** The output of an app that cannot start. */
async function outputOfFailedStart(env: Record<string, string>, name = 'inbound'): Promise<string> {
  const app = await ProgramUnderTest.start(`apps/${name}/dist/main.js`, {
    env: {
      DATABASE_URL: testDatabase.url,
      REDIS_URL: testRedisUrl(),
      ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
      HTTP_PORT: '0',
      ...env,
    },
  });
  expect((await app.exit).code).toBe(1);
  return app.output;
}

/** The database's URL with a change. */
const urlWith = (change: Partial<URL>): string => Object.assign(new URL(testDatabase.url), change).href;

describe('An app that cannot start prints one line that says what to do', () => {
  /** It tries for half a minute, during the other tests; nobody listens at that port. */
  let outputWithoutDatabase: Promise<string>;
  beforeAll(() => {
    outputWithoutDatabase = outputOfFailedStart({ DATABASE_URL: urlWith({ port: '1' }) });
  });

  it('about a refused login', async () => {
    expect(await outputOfFailedStart({ DATABASE_URL: urlWith({ password: 'another' }) })).toMatch(
      /^inbound cannot start: The database refuses the login: correct the name and password in DATABASE_URL \(password authentication failed for user "\w+"\)\n$/,
    );
  });

  it.each(['verify-full', 'require'])('about a Postgres without TLS, with sslmode=%s', async (mode) => {
    expect(await outputOfFailedStart({ DATABASE_URL: urlWith({ search: `?sslmode=${mode}` }) })).toMatch(
      /^inbound cannot start: Postgres speaks no TLS there, and DATABASE_URL asks for it: .*\n$/,
    );
  });

  it('about a database that does not exist', async () => {
    expect(await outputOfFailedStart({ DATABASE_URL: urlWith({ pathname: '/nowhere' }) })).toMatch(
      /^inbound cannot start: The server has no database of this name: .*npm run migrate \(database "nowhere" does not exist\)\n$/,
    );
  });

  it('about a database that was never migrated', async () => {
    expect(await outputOfFailedStart({ DATABASE_URL: testPostgresUrl() })).toMatch(
      /^inbound cannot start: The database is not at the newest migration: run npm run migrate \(.*does not exist\)\n$/,
    );
  });

  it.each(['HTTP_PORT', 'METRICS_PORT'])('about a %s that is in use', async (setting) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const output = await outputOfFailedStart({ HTTP_HOST: '127.0.0.1', [setting]: String(port) });
    other.close();
    const words = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(words).toEqual([
      `inbound cannot start: Another process listens at 127.0.0.1:${port}: stop it, or give this one a port of its own (HTTP_PORT, METRICS_PORT and INBOUND_PORT say which)`,
    ]);
  });

  it.each([
    [
      'that no machine has',
      NO_NAME,
      `The name ${NO_NAME} leads to no address: correct HTTP_HOST or INBOUND_HOST`,
    ],
    [
      'that another machine has',
      '192.0.2.1',
      'This machine does not have the address 192.0.2.1: correct HTTP_HOST or INBOUND_HOST',
    ],
  ])('about a host %s', async (_what, host, why) => {
    for (const setting of ['HTTP_HOST', 'INBOUND_HOST']) {
      const output = await outputOfFailedStart({
        BOUNCE_DOMAIN: 'bounces.example.com',
        INBOUND_PORT: '0',
        [setting]: host,
      });
      const words = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
      expect([setting, words]).toEqual([setting, [`inbound cannot start: ${why}`]]);
    }
  });

  it('about a malformed URL of the relay', async () => {
    const output = await outputOfFailedStart({ SMTP_URL: 'smtp://joe:hunter2%@relay' }, 'sender');
    const words = output.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    expect(words).toEqual([
      'sender cannot start: SMTP_URL has a user or password that is not percent-encoded; expected smtp[s]://[user[:password]@]host[:port], with user and password percent-encoded',
    ]);
  });

  it.each([
    ['that is not there', 'nowhere.crt', 'ENOENT: no such file or directory'],
    ['that is none', 'none.crt', 'no start line'],
    ['of another key', 'other.crt', 'key values mismatch'],
  ])('about a certificate %s', async (_what, certificate, why) => {
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-starting-'));
    const authority = TestAuthority.create();
    const names = ['DNS:bounces.example.com'];
    const [one, other] = [authority.selfSigned({ names }), authority.selfSigned({ names })];
    authority.close();
    writeFileSync(join(directory, 'one.key'), one.key);
    writeFileSync(join(directory, 'other.crt'), other.cert);
    writeFileSync(join(directory, 'none.crt'), 'none');
    const output = await outputOfFailedStart({
      INBOUND_TLS_CERTIFICATE: join(directory, certificate),
      INBOUND_TLS_KEY: join(directory, 'one.key'),
    });
    rmSync(directory, { recursive: true });
    expect(output).toMatch(
      /^inbound cannot start: The certificate for STARTTLS cannot be used: correct INBOUND_TLS_CERTIFICATE and INBOUND_TLS_KEY \([^\n]+\)\n$/,
    );
    expect(output).toContain(why);
  });

  it('about an unavailable database, after a line that says that it waits', async () => {
    const [waiting, ...rest] = (await outputWithoutDatabase).trimEnd().split('\n');
    expect(JSON.parse(waiting!)).toMatchObject({
      level: 'warn',
      err: { message: 'connect ECONNREFUSED 127.0.0.1:1' },
    });
    expect(rest.at(-1)).toBe(
      'inbound cannot start: No database answers: check that it is running, that DATABASE_URL is correct, and that the network path to it is open (connect ECONNREFUSED 127.0.0.1:1)',
    );
  });
});

it.each(['SIGTERM', 'SIGINT'] as const)(
  'An app that waits for its database exits at once with 0 on %s',
  async (signal) => {
    const app = await ProgramUnderTest.start('apps/scheduler/dist/main.js', {
      env: {
        DATABASE_URL: 'postgresql://ada@127.0.0.1:1/posthorn',
        REDIS_URL: testRedisUrl(),
        HTTP_PORT: '0',
      },
    });
    await app.waitForOutput('ECONNREFUSED');
    app.kill(signal);
    expect(await app.exit).toEqual({ code: 0, signal: null });
  },
);

it('An app starts although the database became unavailable again during its start', async () => {
  const proxy = await FaultProxy.before(testDatabase.url);
  const cut = proxy.cutBefore('identities');
  const gateway = await startApp('gateway', {
    DATABASE_URL: proxy.urlFor(testDatabase.url),
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: uniqueQueuePrefix(),
    ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    SYSTEM_FROM: 'Posthorn <posthorn@example.com>',
  });
  await cut;
  expect((await gateway.program.stop()).code).toBe(0);
  await proxy.close();
});

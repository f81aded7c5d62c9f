import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nowLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { freePort, listenOnLoopback, PrivateRedis, TestAuthority } from '@posthorn/testing';
import { examineRedis, JobWorker, LaneRings, QUEUES } from './index.ts';

const examine = (url: string): Promise<unknown> => examineRedis({ url, prefix: 'posthorn' });

/** What those who add jobs and who process them log about a Redis, each text once, when both have logged something. */
async function loggedAbout(url: string): Promise<string[]> {
  const [byRings, byWorker] = [new Set<string>(), new Set<string>()];
  const optionsFor = (logged: Set<string>) => ({
    url,
    prefix: 'posthorn',
    onError: ({ message }: Error) => void logged.add(message),
  });
  const rings = new LaneRings({ ...optionsFor(byRings), turnQueue: 'email', rowsPerTurn: 50 });
  const worker = new JobWorker<'email.turn'>({
    ...optionsFor(byWorker),
    queue: QUEUES.emailTurns,
    concurrency: 1,
    handlers: { 'email.turn': () => Promise.resolve() },
  });
  worker.start();
  while (byRings.size === 0 || byWorker.size === 0) {
    rings.ring(nowLane(newId('wrk', Date.now())));
    await sleep(10);
  }
  await Promise.all([rings.close(), worker.close()]);
  return [...new Set([...byRings, ...byWorker])];
}

describe('the log of a process names Redis, and what to do, when', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await PrivateRedis.start();
  });
  afterAll(() => redis.close());

  it('its user may not do what is needed', async () => {
    await redis.ask('ACL SETUSER few on >pw ~other:* +@all');
    const logged = await loggedAbout(redis.url.replace('://', '://few:pw@'));
    expect(new Set(logged.map((text) => text.replace(/\(.*?\)/, '(…)')))).toEqual(
      new Set([
        'The user in REDIS_URL may not do in Redis what Posthorn needs (…): npm run posthorn -- doctor names the rights to give it',
      ]),
    );
  });

  it('its memory is full, in one text for all scripts', async () => {
    await redis.ask('CONFIG SET maxmemory 1');
    const logged = await loggedAbout(redis.url);
    await redis.ask('CONFIG SET maxmemory 0');
    expect(logged).toEqual([
      "Redis accepts no writes (OOM command not allowed when used memory > 'maxmemory'.)",
    ]);
  });

  it('it is away', async () => {
    const port = await freePort();
    expect(await loggedAbout(`redis://127.0.0.1:${port}`)).toEqual([
      `Redis cannot be reached, or was lost before it answered (connect ECONNREFUSED 127.0.0.1:${port})`,
    ]);
  });
});

describe('the doctor about a Redis with TLS', () => {
  let authority: TestAuthority;
  let directory: string;
  const trusted = getCACertificates();
  const started: PrivateRedis[] = [];
  beforeAll(async () => {
    authority = TestAuthority.create();
    directory = await mkdtemp(join(tmpdir(), 'posthorn-redis-tls-'));
    await writeFile(join(directory, 'ca.crt'), authority.certificate);
    // As NODE_EXTRA_CA_CERTS does.
    setDefaultCACertificates([...trusted, authority.certificate]);
  });
  afterAll(async () => {
    setDefaultCACertificates(trusted);
    await Promise.all(started.map((redis) => redis.close()));
    authority.close();
    await rm(directory, { recursive: true });
  });

  /** Starts a Redis with a certificate. @returns its URL */
  async function startWith(
    certified: Parameters<TestAuthority['issue']>[0],
    settings: Record<string, string> = {},
  ): Promise<string> {
    const { key, cert } = authority.issue(certified);
    const port = await freePort();
    const [keyFile, certFile] = [join(directory, `${port}.key`), join(directory, `${port}.crt`)];
    await writeFile(keyFile, key);
    await writeFile(certFile, cert);
    const files = {
      'tls-key-file': keyFile,
      'tls-cert-file': certFile,
      'tls-ca-cert-file': join(directory, 'ca.crt'),
    };
    started.push(await PrivateRedis.start({ settings: { 'tls-port': String(port), ...files, ...settings } }));
    return `rediss://127.0.0.1:${port}`;
  }

  it.each([
    ['TLS 1.3', {}],
    ['TLS 1.2', { 'tls-protocols': 'TLSv1.2' }],
  ])(
    'says how to let in clients without a certificate, which Redis refuses by default, with %s',
    async (_version, settings) => {
      const url = await startWith({ names: ['IP:127.0.0.1'] }, settings);
      // Whether a client sees the alert or a reset is a matter of luck.
      for (let round = 0; round < 20; round += 1)
        await expect(examine(url)).rejects.toThrow(
          /^Redis ends the TLS handshake, .*: set tls-auth-clients no/,
        );
    },
  );

  const LETS_IN = { 'tls-auth-clients': 'no' };

  it('finds no problem where its certificate is for the host in REDIS_URL, and trusted', async () => {
    const url = await startWith({ names: ['IP:127.0.0.1'] }, LETS_IN);
    expect(await examine(url)).toMatchObject({ facts: { role: 'master' } });
  });

  it('names the hosts that its certificate is for', async () => {
    const url = await startWith({ names: ['DNS:redis.internal'] }, LETS_IN);
    await expect(examine(url)).rejects.toThrow(
      'The certificate of Redis is for another host (DNS:redis.internal): write one of its names as the host in REDIS_URL',
    );
  });

  it('says that its certificate has expired, as logs do', async () => {
    const url = await startWith({ names: ['IP:127.0.0.1'], hasExpired: true }, LETS_IN);
    await expect(examine(url)).rejects.toThrow(/^The certificate of Redis, .*, has expired: renew it$/);
    expect(await loggedAbout(url)).toEqual([
      'The certificate of Redis, or the one that it was issued by, has expired: renew it',
    ]);
  });

  it('asks for the certificate of the authority where that is not trusted', async () => {
    const url = await startWith({ names: ['IP:127.0.0.1'] }, LETS_IN);
    setDefaultCACertificates(trusted);
    await expect(examine(url)).rejects.toThrow(
      /^The certificate of Redis is not trusted .*: let NODE_EXTRA_CA_CERTS name/,
    );
    setDefaultCACertificates([...trusted, authority.certificate]);
  });
});

describe('the doctor about a Redis without', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'posthorn-redis-commands-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it.each(['INFO', 'TIME', 'EVAL', 'EVALSHA', 'SCAN', 'UNLINK'])('%s names the command', async (command) => {
    const include = join(directory, `${command}.conf`);
    await writeFile(include, `rename-command ${command} ""\n`);
    const redis = await PrivateRedis.start({ settings: { include } });
    await expect(examine(redis.url)).rejects.toThrow(
      `Redis has no command ${command}, which Posthorn needs: take its rename-command out of redis.conf`,
    );
    await redis.close();
  });
});

it('the doctor says that REDIS_URL leads to another server', async () => {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .resume()
      .write('220 relay.example ESMTP\r\n');
  });
  const port = await listenOnLoopback(server);
  await expect(examine(`redis://127.0.0.1:${port}`)).rejects.toThrow(
    'What answers there is no Redis: correct host and port in REDIS_URL',
  );
  server.close();
});

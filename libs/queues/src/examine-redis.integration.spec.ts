import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createSilent } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PrivateRedis, TestAuthority } from '@posthorn/testing';
import { examineRedis } from './index.ts';

describe('Examining Redis', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await PrivateRedis.start();
  });
  afterAll(() => redis.close());

  const examineAs = (user: string): Promise<unknown> =>
    examineRedis({ url: redis.url.replace('://', `://${user}:pw@`), prefix: 'posthorn' });

  it('finds nothing amiss with a user that may do everything with our keys', async () => {
    await redis.ask('ACL SETUSER enough on >pw ~posthorn:* +@all');
    expect(await examineAs('enough')).toMatchObject({ facts: { role: 'master' } });
  });

  it.each([
    ['keys', 'on >pw ~other:* +@all', 'access one of the keys'],
    ['scripts', 'on >pw ~* +@all -eval', "run the 'eval' command"],
    ['commands', 'on >pw ~* +@all -zadd -bzpopmin', 'NOPERM ZADD, BZPOPMIN'],
    ['information', 'on >pw ~* +@all -info', "run the 'info' command"],
  ])('says what rights a user needs that may not use our %s', async (_what, rules, said) => {
    await redis.ask(`ACL SETUSER few reset ${rules}`);
    await expect(examineAs('few')).rejects.toThrow(said);
    await expect(examineAs('few')).rejects.toThrow(/: give it ~posthorn:\* and \+@all$/);
  });

  it('says what to see to when Redis hangs up because too many are connected', async () => {
    await redis.ask('CONFIG SET maxclients 1');
    const held = connect(redis.port, '127.0.0.1');
    held.on('error', () => undefined).write('PING\r\n');
    await once(held, 'data');
    const refused = examineRedis({ url: redis.url, prefix: 'posthorn' });
    await expect(refused).rejects.toThrow(/^Redis hangs up: raise maxclients/);
    held.destroy();
    // It takes connections again when it has noticed.
    await expect(waitUntilTaken()).resolves.toBeUndefined();
  });

  async function waitUntilTaken(): Promise<void> {
    while (
      !(await redis.ask('CONFIG SET maxclients 100').then(
        () => true,
        () => false,
      ))
    )
      await sleep(10);
  }

  it('says which scheme to write for one that speaks in clear, or wants a login for that', async () => {
    const secure = redis.url.replace('redis://', 'rediss://');
    const refused = (): Promise<unknown> => examineRedis({ url: secure, prefix: 'posthorn' });
    await expect(refused()).rejects.toThrow(/^Redis speaks no TLS there \(.*\): write redis:\/\//);
    await redis.ask('CONFIG SET requirepass secret');
    await expect(refused()).rejects.toThrow(/^Redis speaks no TLS there \(.*\): write redis:\/\//);
  }, 20_000);

  it.each(['without a client’s certificate', 'only with one'])(
    'says which scheme to write for one that speaks TLS, %s',
    async (how) => {
      const authority = TestAuthority.create();
      const options = {
        ...authority.issue({ names: ['IP:127.0.0.1'] }),
        ca: authority.certificate,
        requestCert: how === 'only with one',
      };
      const server = createServer(options, (socket) => socket.on('error', () => undefined).resume());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const refused = examineRedis({ url: `redis://127.0.0.1:${port}`, prefix: 'posthorn' });
      await expect(refused).rejects.toThrow(/^Redis speaks TLS there \(.*\): write rediss:\/\//);
      server.close();
      authority.close();
    },
    20_000,
  );

  it('says of who takes connections and is silent that nobody answers, whatever the scheme', async () => {
    const silent = createSilent((socket) => void socket.on('error', () => undefined));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const ask = (scheme: string): Promise<unknown> =>
      examineRedis({ url: `${scheme}://127.0.0.1:${port}`, prefix: 'posthorn' });
    await Promise.all([
      expect(ask('rediss')).rejects.toThrow('connect ETIMEDOUT'),
      expect(ask('redis')).rejects.toThrow(),
    ]);
    silent.close();
  }, 30_000);
});

import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer as createSilent, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LaneId } from '@posthorn/domain';
import { FaultProxy, freePort, listenOnLoopback, PrivateRedis, TestAuthority } from '@posthorn/testing';
import { examineRedis, LaneRings } from './index.ts';

describe('Examining Redis', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await PrivateRedis.start();
  });
  afterAll(() => redis.close());

  const examineAs = (user: string): Promise<unknown> =>
    examineRedis({ url: redis.url.replace('://', `://${user}:pw@`), prefix: 'posthorn' });

  it('finds no problem with a user that has all rights to our keys', async () => {
    await redis.ask('ACL SETUSER enough on >pw ~posthorn:* +@all');
    expect(await examineAs('enough')).toMatchObject({ facts: { role: 'master' } });
  });

  it.each([
    ['keys', 'on >pw ~other:* +@all', /access (?:one of the keys|a key)/],
    ['scripts', 'on >pw ~* +@all -eval', "run the 'eval' command"],
    ['commands', 'on >pw ~* +@all -zadd -bzpopmin', 'NOPERM ZADD, BZPOPMIN'],
    ['information', 'on >pw ~* +@all -info', "run the 'info' command"],
    ['lists of keys', 'on >pw ~* +@all -scan', 'NOPERM SCAN'],
  ])('says which rights are missing for a user that may not use our %s', async (_what, rules, said) => {
    await redis.ask(`ACL SETUSER few reset ${rules}`);
    await expect(examineAs('few')).rejects.toThrow(said);
    await expect(examineAs('few')).rejects.toThrow(
      /: give it ~posthorn:\* and \+@all -@admin -@dangerous \+info$/,
    );
  });

  it('says that there is no database of that number', async () => {
    const examined = examineRedis({ url: `${redis.url}/99`, prefix: 'posthorn' });
    await expect(examined).rejects.toThrow(/^Redis does not open the database .*out of range\): correct/);
  });

  it('reports only the login if it is refused, whatever the number of the database', async () => {
    await redis.ask('ACL SETUSER nobody reset');
    const url = redis.url.replace('://', '://nobody:wrong@');
    for (const database of ['', '/1', '/99'])
      await expect(examineRedis({ url: url + database, prefix: 'posthorn' })).rejects.toThrow(
        /^(?:WRONGPASS|NOAUTH)/,
      );
  });

  it('says what to check when Redis closes the connection because it has too many clients', async () => {
    await redis.ask('CONFIG SET maxclients 1');
    let held = await connectOnly();
    // The connection of the last command may still count.
    while (held === undefined) held = await connectOnly();
    const refused = examineRedis({ url: redis.url, prefix: 'posthorn' });
    await expect(refused).rejects.toThrow(/^Redis takes no more clients: .* raise maxclients$/);
    held.destroy();
    // It accepts connections again once it has noticed.
    await expect(waitUntilTaken()).resolves.toBeUndefined();
  });

  it('says what to check when a proxy closes the connection because no Redis behind it is up', async () => {
    const proxy = await FaultProxy.before(redis.url);
    proxy.redirectTo(`redis://127.0.0.1:${await freePort()}`);
    await expect(examineRedis({ url: proxy.urlFor(redis.url), prefix: 'posthorn' })).rejects.toThrow(
      /^Redis, or a proxy before it, hangs up: check that the proxy has a server that is up/,
    );
    await proxy.close();
  });

  /** A connection that Redis has answered; undefined: it takes no more. */
  async function connectOnly(): Promise<Socket | undefined> {
    const socket = connect(redis.port, '127.0.0.1');
    const answered = once(socket, 'data').catch(() => []);
    socket.on('error', () => undefined).write('PING\r\n');
    const [answer] = (await answered) as Buffer[];
    if (answer?.toString() === '+PONG\r\n') return socket;
    socket.destroy();
    return undefined;
  }

  async function waitUntilTaken(): Promise<void> {
    while (
      !(await redis.ask('CONFIG SET maxclients 100').then(
        () => true,
        () => false,
      ))
    )
      await sleep(10);
  }

  it('names the scheme to use for a server without TLS, with or without a login', async () => {
    const guarded = await PrivateRedis.start();
    await guarded.ask('CONFIG SET requirepass secret');
    await Promise.all(
      [redis, guarded].map(async ({ url }) => {
        const secure = url.replace('redis://', 'rediss://');
        await expect(examineRedis({ url: secure, prefix: 'posthorn' })).rejects.toThrow(
          /^Redis speaks no TLS there \(.*\): write redis:\/\//,
        );
      }),
    );
    await guarded.close();
  });

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
      const port = await listenOnLoopback(server);
      const refused = examineRedis({ url: `redis://127.0.0.1:${port}`, prefix: 'posthorn' });
      await expect(refused).rejects.toThrow(/^Redis speaks TLS there \(.*\): write rediss:\/\//);
      server.close();
      authority.close();
    },
  );

  it('reports no answer from a server that accepts connections and stays silent, whatever the scheme', async () => {
    const silent = createSilent((socket) => void socket.on('error', () => undefined).resume());
    const port = await listenOnLoopback(silent);
    const ask = (scheme: string): Promise<unknown> =>
      examineRedis({ url: `${scheme}://127.0.0.1:${port}`, prefix: 'posthorn' });
    await Promise.all([
      expect(ask('rediss')).rejects.toThrow('connect ETIMEDOUT'),
      expect(ask('redis')).rejects.toThrow(),
    ]);
    silent.close();
  });

  it('reports protected mode, which Redis announces before it closes the connection', async () => {
    const said = '-DENIED Redis is running in protected mode because protected mode is enabled\r\n';
    const server = createSilent((socket) => {
      socket.on('error', () => undefined).write(said, () => socket.destroy());
    });
    const port = await listenOnLoopback(server);
    const examined = examineRedis({ url: `redis://127.0.0.1:${port}`, prefix: 'posthorn' });
    await expect(examined).rejects.toThrow(/^Redis is in protected mode .*: set a password/);
    server.close();
  });

  it.each([
    ['has too few replicas', 'NOREPLICAS', 'CONFIG SET min-replicas-to-write 1'],
    ['is a replica', 'READONLY', 'REPLICAOF 127.0.0.1 1'],
  ])('reports that queues cannot be changed where Redis %s', async (_what, said, command) => {
    const odd = await PrivateRedis.start();
    await odd.ask(command);
    const { refusal } = await examineRedis({ url: odd.url, prefix: 'posthorn' });
    expect(refusal).toMatch(new RegExp(`^${said}`));
    await odd.close();
  });

  it('says that it is a cluster, in which no queue can be changed', async () => {
    const cluster = await PrivateRedis.start({ settings: { 'cluster-enabled': 'yes' } });
    await cluster.ask('CLUSTER ADDSLOTSRANGE 0 16383');
    while (!(await cluster.ask('CLUSTER INFO')).includes('cluster_state:ok')) await sleep(10);
    const rings = new LaneRings({
      url: cluster.url,
      prefix: 'posthorn',
      turnQueue: 'email',
      rowsPerTurn: 50,
      onError: (error) => void errors.push(error.message),
    });
    const errors: string[] = [];
    while (errors.length === 0) {
      rings.ring('wrk_01k9zq7v3nf4b8gq2m5c6d7e8f.now' as LaneId);
      await sleep(10);
    }
    await rings.close();
    expect(errors[0]).toMatch(/slot/);
    const examined = examineRedis({ url: cluster.url, prefix: 'posthorn' });
    await expect(examined).rejects.toThrow(/^REDIS_URL points to a cluster/);
    await cluster.close();
  });

  it('reports that queues cannot be changed where Redis cannot write to its disk', async () => {
    const full = await PrivateRedis.start();
    const directory = (await full.ask('CONFIG GET dir')).split('\r\n').at(-2)!;
    await rm(directory, { recursive: true });
    for (const command of ['CONFIG SET save "3600 1"', 'SET a b', 'BGSAVE']) await full.ask(command);
    while (!(await full.ask('INFO persistence')).includes('rdb_last_bgsave_status:err')) await sleep(10);
    const { refusal } = await examineRedis({ url: full.url, prefix: 'posthorn' });
    expect(refusal).toMatch(/^MISCONF/);
    await full.close();
  });

  it('does not take a late answer to a change for a refusal', async () => {
    const slow = await PrivateRedis.start();
    const proxy = createSilent((socket) => {
      const answers = connect(slow.port, '127.0.0.1').on('error', () => undefined);
      answers.pipe(socket).on('error', () => undefined);
      socket.on('data', (asked) => /^\*\d+\r\n\$6\r\nunlink/i.test(asked.toString()) || answers.write(asked));
      socket.on('close', () => answers.destroy());
    });
    const port = await listenOnLoopback(proxy);
    const examined = examineRedis({ url: `redis://127.0.0.1:${port}`, prefix: 'posthorn' });
    await expect(examined).rejects.toThrow('Command timed out');
    proxy.close();
    await slow.close();
  });

  it('changes nothing, and reports nothing where queues can be changed', async () => {
    const empty = await PrivateRedis.start();
    const { refusal } = await examineRedis({ url: empty.url, prefix: 'posthorn' });
    expect([refusal, await empty.ask('DBSIZE')]).toEqual([undefined, ':0\r\n']);
    await empty.close();
  });

  it('says that a replica has lost its primary', async () => {
    const replica = await PrivateRedis.start();
    for (const command of ['REPLICAOF 127.0.0.1 1', 'CONFIG SET replica-serve-stale-data no'])
      await replica.ask(command);
    const examined = examineRedis({ url: replica.url, prefix: 'posthorn' });
    await expect(examined).rejects.toThrow(/^Redis is a replica without its primary: point REDIS_URL at/);
    await replica.close();
  });

  it('says that a foreign script does not end', async () => {
    const busy = await PrivateRedis.start();
    await busy.ask('CONFIG SET busy-reply-threshold 1');
    const held = connect(busy.port, '127.0.0.1').on('error', () => undefined);
    held.write('EVAL "while true do end" 0\r\n');
    const said = (): Promise<string> => busy.ask('PING').catch(String);
    while (!(await said()).includes('BUSY')) await sleep(10);
    const examined = examineRedis({ url: busy.url, prefix: 'posthorn' });
    await expect(examined).rejects.toThrow(/^Redis has been running a script of somebody else/);
    await busy.ask('SCRIPT KILL');
    held.destroy();
    await busy.close();
  });

  it.each([
    [
      'a Sentinel',
      'redis_mode:sentinel',
      '-NOPROTO unsupported protocol version',
      /^REDIS_URL points to a Sentinel/,
    ],
    [
      'a Sentinel of Valkey',
      'server_mode:sentinel',
      '-NOPROTO unsupported protocol version',
      /^REDIS_URL points to a Sentinel/,
    ],
    [
      'a cluster of Valkey',
      'server_mode:cluster',
      '-NOPROTO unsupported protocol version',
      /^REDIS_URL points to a cluster/,
    ],
    ['loading', 'loading:1', '-LOADING Redis is loading the dataset in memory', /^Redis is loading what/],
  ])('says that it is %s', async (_what, info, otherwise, said) => {
    const server = createSilent((socket) =>
      socket
        .on('error', () => undefined)
        .on('data', (asked) => {
          const answers = asked
            .toString()
            .split(/^\*\d+\r\n/m)
            .slice(1)
            .map((command) =>
              /^\$4\r\ninfo\r\n$/i.test(command) ? `$${info.length}\r\n${info}\r\n` : `${otherwise}\r\n`,
            );
          socket.write(answers.join(''));
        }),
    );
    const port = await listenOnLoopback(server);
    const examined = examineRedis({ url: `redis://127.0.0.1:${port}`, prefix: 'posthorn' });
    await expect(examined).rejects.toThrow(said);
    server.close();
  });
});

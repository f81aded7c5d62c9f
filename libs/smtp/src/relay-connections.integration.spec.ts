import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { answerAt, type ScriptedSmtpServer, type SinkScript, type SinkStage } from '@posthorn/testing';
import { ENVELOPE, MESSAGE, open, scripted, sinkWith, transportTo, withLogin } from './relays.fixture.ts';
import type { SmtpTransport } from './smtp-transport.ts';

/** A message waits until the connection of the one before is free, and does not open another. */
const ONE_AT_A_TIME = { maxConnections: 1 };

/** A relay that refuses a message at its first bytes, and takes in the rest when it is told to. */
async function hastyRelay(): Promise<{ url: string; takeInTheRest(): Promise<string> }> {
  let content = '';
  const hasEnded = Promise.withResolvers<string>();
  let resume = (): void => undefined;
  const server = createServer((socket) => {
    let inContent = false;
    resume = () => socket.resume();
    socket.on('data', (chunk) => {
      if (!inContent) {
        inContent = chunk.toString().startsWith('DATA');
        socket.write(inContent ? '354 go on\r\n' : '250 ok\r\n');
        return;
      }
      if (content === '') socket.pause().write('552 5.3.4 too large\r\n');
      content += chunk.toString();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => hasEnded.resolve(content));
    socket.write('220 hasty\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: async () => void (await once(server.close(), 'close')) });
  const { port } = server.address() as AddressInfo;
  const takeInTheRest = (): Promise<string> => {
    resume();
    return hasEnded.promise;
  };
  return { url: `smtp://127.0.0.1:${port}`, takeInTheRest };
}

const someTime = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await someTime(5);
}

describe('the connections of a transport', () => {
  it('are reused, without RSET between accepted messages', async () => {
    const server = await scripted();
    const transport = transportTo(server.url, { maxConnections: 1 });
    for (let n = 0; n < 5; n += 1) expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect(server.connections.total).toBe(1);
    expect(server.commands.filter((command) => command === 'RSET')).toEqual([]);
  });

  it('greet with the configured host name', async () => {
    const server = await scripted();
    await transportTo(server.url, { ehloName: 'posthorn.example.com' }).send(ENVELOPE, MESSAGE);
    expect(server.commands[0]).toBe('EHLO posthorn.example.com');
  });

  it('are reused after a refused recipient, with RSET in between', async () => {
    const server = await scripted((stage, { to }) =>
      stage === 'rcpt' && to[0] === 'x@example.com' ? { reply: '550 5.1.1 no' } : undefined,
    );
    const transport = transportTo(server.url, { maxConnections: 1 });
    expect(await transport.send({ ...ENVELOPE, to: 'x@example.com' }, MESSAGE)).toMatchObject({
      stage: 'rcpt',
    });
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect(server.commands).toContain('RSET');
    expect(server.connections.total).toBe(1);
  });

  it('are closed if RSET is not answered within the command timeout, without blocking others', async () => {
    const server = await scripted(answerAt('rcpt', { reply: '550 5.1.1 no' }));
    server.ignoredCommand = 'RSET';
    const transport = transportTo(server.url, { maxConnections: 1, commandTimeoutMs: 3_000 });
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ stage: 'rcpt' });
    server.script = () => undefined;
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect(server.connections.total).toBe(2);
  });

  it('are closed if a message is refused before all of it was sent: a command would become part of it', async () => {
    const relay = await hastyRelay();
    const transport = transportTo(relay.url, { commandTimeoutMs: 3_000 });
    const large = Buffer.from(`${'x'.repeat(1022)}\r\n`.repeat(32 * 1024));
    expect(await transport.send(ENVELOPE, large)).toMatchObject({ kind: 'refused', stage: 'content' });
    const content = await relay.takeInTheRest();
    expect([content.includes('RSET'), content.includes('\r\n.\r\n')]).toEqual([false, false]);
  });

  it.each(['AUTH PLAIN', 'AUTH XOAUTH2'])(
    'are closed if the login fails, even if the relay keeps its side open: %s',
    async (offer) => {
      const server = await scripted(answerAt('auth', { reply: '535 5.7.8 wrong' }), [offer]);
      const transport = transportTo(withLogin(server));
      expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'refused', stage: 'auth' });
      await until(() => server.connections.open === 0);
      expect(server.connections.total).toBe(1);
    },
  );

  it('are replaced, with QUIT, after the maximum of messages', async () => {
    const server = await scripted();
    const transport = transportTo(server.url, { maxConnections: 1, maxMessagesPerConnection: 3 });
    await Promise.all(Array.from({ length: 7 }, () => transport.send(ENVELOPE, MESSAGE)));
    expect(server.messages.map(({ connection }) => connection)).toEqual([1, 1, 1, 2, 2, 2, 3]);
    expect(server.commands.filter((command) => command === 'QUIT')).toHaveLength(2);
    expect(server.connections.max).toBe(1);
  });

  it('are closed, with QUIT, after the idle timeout', async () => {
    const server = await scripted();
    const transport = transportTo(server.url, { idleMs: 30 });
    await transport.send(ENVELOPE, MESSAGE);
    await until(() => server.connections.open === 0);
    expect(server.commands.at(-1)).toBe('QUIT');
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
  });

  it('never exceed the maximum, however many messages are sent at once', async () => {
    const sink = await sinkWith();
    const transport = transportTo(sink.url, { maxConnections: 4, maxMessagesPerConnection: 5 });
    await Promise.all(Array.from({ length: 200 }, () => transport.send(ENVELOPE, MESSAGE)));
    expect(await sink.received(200)).toHaveLength(200);
    expect(sink.connections.max).toBe(4);
  });

  it.each(['', '421 4.4.2 idle for too long\r\n'])(
    'may have been closed by the server while idle, which is nobody’s fault (it said %j)',
    async (farewell) => {
      const server = await scripted();
      const transport = transportTo(server.url, ONE_AT_A_TIME);
      await transport.send(ENVELOPE, MESSAGE);
      await someTime(10);
      server.hangUp(farewell);
      expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
      await someTime(10);
      server.hangUp(farewell);
      await someTime(20);
      expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
      expect(server.connections.total).toBe(3);
    },
  );

  it.each([
    [{ drop: true }, []],
    [{ drop: true }, ['PIPELINING']],
    [{ reply: '421 4.4.2 bye', drop: true }, []],
    [{ reply: '421 4.4.2 bye', drop: true }, ['PIPELINING']],
    [{}, []],
  ] as const)('are replaced once when a kept one ends at MAIL: %j %j', async (answer, extensions) => {
    const server = await scripted(
      (stage, { connection, transaction }) =>
        stage === 'mail' && connection === 1 && transaction === 2 ? answer : undefined,
      extensions,
    );
    const transport = transportTo(server.url, { ...ONE_AT_A_TIME, socketTimeoutMs: 3_000 });
    await transport.send(ENVELOPE, MESSAGE);
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect(server.messages.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it.each([
    ['mail', '452 4.5.3 Too many messages in this session'],
    ['data', '452 4.4.5 Maximum number of messages per session exceeded.'],
  ] as const)(
    'are replaced when the relay takes nothing more over them, but leaves them open: %s: %s',
    async (stage, reply) => {
      const server = await scripted((reached, { transaction }) =>
        reached === stage && transaction > 2 ? { reply } : undefined,
      );
      const transport = transportTo(server.url, { maxConnections: 1 });
      for (let n = 0; n < 5; n += 1) expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
      expect(server.messages.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
      expect(server.connections.max).toBe(1);
    },
  );

  it('are not replaced when a new one already takes nothing', async () => {
    const reply = '452 4.4.5 Maximum number of messages per session exceeded.';
    const server = await scripted(answerAt('data', { reply }));
    const transport = transportTo(server.url, { maxConnections: 1 });
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'refused', stage: 'data' });
    expect(server.connections.total).toBe(1);
  });

  it('that are half-open are replaced sooner than the command timeout', async () => {
    const server = await scripted((stage, { connection, transaction }) =>
      stage === 'mail' && connection === 1 && transaction === 2 ? {} : undefined,
    );
    const transport = transportTo(server.url, { ...ONE_AT_A_TIME, greetingTimeoutMs: 1_000 });
    await transport.send(ENVELOPE, MESSAGE);
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect(server.messages.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it('that are new have the whole command timeout at MAIL', async () => {
    // Over the kept one there is no answer at all: one that is only late may still come in time, where this process was suspended.
    const server = await scripted((stage, { connection, transaction }) => {
      if (stage !== 'mail') return undefined;
      return connection === 1 && transaction === 2 ? {} : { delayMs: 1_500 };
    });
    const transport = transportTo(server.url, { ...ONE_AT_A_TIME, greetingTimeoutMs: 1_000 });
    for (let n = 0; n < 2; n += 1) {
      expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    }
    expect(server.messages.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it('are replaced only once: if a new one ends at MAIL, that is the result', async () => {
    const server = await scripted((stage, { connection, transaction }) =>
      stage === 'mail' && (connection === 2 || transaction === 2) ? { drop: true } : undefined,
    );
    const transport = transportTo(server.url, ONE_AT_A_TIME);
    await transport.send(ENVELOPE, MESSAGE);
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'broken', stage: 'mail' });
    expect(server.connections.total).toBe(2);
  });

  it.each([
    ['broken', 'rcpt', { drop: true }],
    ['refused', 'rcpt', { reply: '421 4.3.2 bye', drop: true }],
    ['refused', 'content', { reply: '421 4.3.2 bye', drop: true }],
  ] as const)('are not replaced when a kept one ends after MAIL: %s at %s', async (kind, end, answer) => {
    const server = await scripted((stage, { transaction }) =>
      stage === end && transaction === 2 ? answer : undefined,
    );
    const transport = transportTo(server.url, ONE_AT_A_TIME);
    await transport.send(ENVELOPE, MESSAGE);
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind, stage: end });
    expect(server.connections.total).toBe(1);
  });

  it('never take a superfluous reply for the reply to the next message', async () => {
    const server = await scripted((stage) =>
      stage === 'content' ? { reply: '250 queued\r\n250 queued\r\n250 queued' } : undefined,
    );
    const transport = transportTo(server.url, { maxConnections: 1 });
    const sent = await Promise.all(Array.from({ length: 5 }, () => transport.send(ENVELOPE, MESSAGE)));
    expect(sent.map(({ kind }) => kind)).toEqual(Array(5).fill('accepted'));
    expect(server.messages).toHaveLength(5);
  });
});

describe('a relay that limits connections', () => {
  const bound = (
    max: number,
    server: () => ScriptedSmtpServer,
    stage: SinkStage = 'greeting',
  ): SinkScript => {
    return (reached) =>
      reached === stage && server().connections.open > max
        ? { reply: '421 4.7.0 too many connections', drop: true }
        : undefined;
  };
  const sendAll = (transport: SmtpTransport, count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, async () => (await transport.send(ENVELOPE, MESSAGE)).kind));

  it.each(['greeting', 'ehlo', 'mail'] as const)(
    'gets everything over these, and we say so once: at %s',
    async (stage) => {
      const server = await scripted();
      server.script = bound(2, () => server, stage);
      const told: string[] = [];
      const onCrowded = (reason: string): unknown => told.push(reason);
      const transport = transportTo(server.url, { maxConnections: 10, cooldownMs: 600_000, onCrowded });
      expect(await sendAll(transport, 50)).toEqual(Array(50).fill('accepted'));
      expect(told).toEqual([`${stage}: 421 too many connections`]);
      expect(server.connections.total).toBe(10);
    },
  );

  it.each(['greeting', 'ehlo'] as const)(
    'and closes any further one without a word, gets everything over these: at %s',
    async (stage) => {
      const server = await scripted();
      server.script = (reached) =>
        reached === stage && server.connections.open > 1 ? { drop: true } : undefined;
      const told: string[] = [];
      const onCrowded = (reason: string): unknown => told.push(reason);
      const transport = transportTo(server.url, { maxConnections: 5, cooldownMs: 600_000, onCrowded });
      await sendAll(transport, 1);
      expect(await sendAll(transport, 20)).toEqual(Array(20).fill('accepted'));
      expect(told).toEqual([expect.stringMatching(new RegExp(`^${stage}: `))]);
      expect(server.connections.total).toBe(5);
    },
  );

  it('is not one that closes a connection before it has served any other', async () => {
    const server = await scripted();
    server.script = answerAt('greeting', { drop: true });
    const told: string[] = [];
    const onCrowded = (reason: string): unknown => told.push(reason);
    const transport = transportTo(server.url, { maxConnections: 5, cooldownMs: 600_000, onCrowded });
    expect(await sendAll(transport, 5)).toEqual(Array(5).fill('broken'));
    expect(told).toEqual([]);
  });

  it('is not one that refuses a connection for good', async () => {
    const server = await scripted();
    server.script = (stage) =>
      stage === 'greeting' && server.connections.open > 1
        ? { reply: '554 5.7.1 no service for you', drop: true }
        : undefined;
    const told: string[] = [];
    const onCrowded = (reason: string): unknown => told.push(reason);
    const transport = transportTo(server.url, { maxConnections: 2, cooldownMs: 600_000, onCrowded });
    expect((await sendAll(transport, 2)).sort()).toEqual(['accepted', 'refused']);
    expect(told).toEqual([]);
  });

  it('is offered more connections after a while', async () => {
    const server = await scripted();
    server.script = bound(1, () => server);
    const transport = transportTo(server.url, { maxConnections: 5, cooldownMs: 5 });
    expect(await sendAll(transport, 10)).toEqual(Array(10).fill('accepted'));
    server.script = answerAt('content', { delayMs: 20 });
    const connections = (): number =>
      new Set(server.messages.slice(10).map((message) => message.connection)).size;
    while (connections() < 5) await sendAll(transport, 20);
  });

  it('is waited for by an email only while its lease is valid', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const server = await scripted(answerAt('content', { after: held }));
    const transport = transportTo(server.url, { maxConnections: 1 });
    const first = transport.send(ENVELOPE, MESSAGE);
    const second = transport.send(ENVELOPE, MESSAGE, () => false);
    letGo();
    expect([(await first).kind, await second]).toEqual(['accepted', undefined]);
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect([server.messages.length, server.connections.total]).toEqual([2, 1]);
  });

  it.each(['ehlo', 'mail', 'rcpt', 'data'] as const)(
    'gets no email that has ceased to be ours meanwhile, at %s, and then the next one',
    async (stage) => {
      let isOurs = true;
      const server = await scripted((reached) => {
        if (reached === stage) isOurs = false;
        return undefined;
      });
      const transport = transportTo(server.url, { maxConnections: 1 });
      expect(await transport.send(ENVELOPE, MESSAGE, () => isOurs)).toBeUndefined();
      expect(server.messages).toEqual([]);
      expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
      expect(server.messages).toHaveLength(1);
    },
  );

  it('does not delay closing while slots are resting', async () => {
    const server = await scripted();
    server.script = bound(1, () => server);
    const transport = transportTo(server.url, { maxConnections: 5, cooldownMs: 600_000 });
    await sendAll(transport, 10);
    await transport.close();
    await until(() => server.connections.open === 0);
  });

  it('does not delay closing at the moment when a slot begins to rest, and no email waits for that slot', async () => {
    const server = await scripted();
    server.script = bound(1, () => server);
    const closed = Promise.withResolvers<void>();
    const onCrowded = (): void => void transport.close().then(closed.resolve);
    const options = { maxConnections: 5, cooldownMs: 600_000, onCrowded };
    const transport: SmtpTransport = transportTo(server.url, options);
    const kinds = await sendAll(transport, 5);
    expect(kinds.filter((kind) => !['accepted', 'refused'].includes(kind))).toEqual([]);
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(server.messages.length);
    await closed.promise;
  });
});

describe('closing a transport', () => {
  it('waits for current and queued messages, sends QUIT, and leaves no connection', async () => {
    const server = await scripted(answerAt('content', { delayMs: 50 }));
    const transport = transportTo(server.url, { maxConnections: 2, quitTimeoutMs: 60_000 });
    const sends = Array.from({ length: 4 }, () => transport.send(ENVELOPE, MESSAGE));
    const closed = transport.close();
    expect((await Promise.all(sends)).map(({ kind }) => kind)).toEqual(Array(4).fill('accepted'));
    await closed;
    expect(server.commands.filter((command) => command === 'QUIT')).toHaveLength(2);
    await until(() => server.connections.open === 0);
    await expect(transport.close()).resolves.toBeUndefined();
  });

  it('does not wait indefinitely for the reply to QUIT', async () => {
    const server = await scripted();
    const transport = transportTo(server.url, { quitTimeoutMs: 50 });
    await transport.send(ENVELOPE, MESSAGE);
    server.ignoredCommand = 'QUIT';
    await transport.close();
    await until(() => server.connections.open === 0);
  });
});

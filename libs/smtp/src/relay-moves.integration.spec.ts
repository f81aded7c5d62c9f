import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { answerAt, type SinkAnswer, type SinkScript, type SmtpSink } from '@posthorn/testing';
import { ENVELOPE, MESSAGE, sinkWith, transportTo } from './relays.fixture.ts';
import type { SmtpTransport } from './smtp-transport.ts';

/** Addresses of this machine that nothing else listens at: at 127.0.0.1, some other server may have a port of the same number. */
const [ONE, OTHER, THIRD] = ['127.0.0.4', '127.0.0.5', '127.0.0.6'] as const;

function sinkAt(host: string, port?: number, script: SinkScript = () => undefined): Promise<SmtpSink> {
  return sinkWith({ host, script, auth: true, ...(port === undefined ? {} : { port }) });
}

/** A transport to a name that leads to these addresses, until they are others. */
function transportByName(port: number, addresses: readonly string[], user = ''): SmtpTransport {
  const lookUp = (): Promise<readonly string[]> => Promise.resolve(addresses);
  return transportTo(`smtp://${user}relay.example:${port}`, {
    lookUp,
    nameFreshMs: 0,
    maxMessagesPerConnection: 1,
    connectionTimeoutMs: 5_000,
    greetingTimeoutMs: 3_000,
  });
}

describe('The name of a relay', () => {
  it('may change to another server, which gets the next connection', async () => {
    const old = await sinkAt(ONE);
    const fresh = await sinkAt(OTHER, old.port);
    const addresses: string[] = [ONE];
    const transport = transportByName(old.port, addresses);
    await transport.send(ENVELOPE, MESSAGE);
    addresses[0] = OTHER;
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    expect([old.count, fresh.count]).toEqual([1, 1]);
  });

  it('may have several addresses of which only one is reachable', async () => {
    const sink = await sinkAt(OTHER);
    const transport = transportByName(sink.port, [ONE, THIRD, OTHER]);
    for (let n = 1; n <= 5; n += 1) await transport.send(ENVELOPE, MESSAGE);
    expect(sink.count).toBe(5);
  });

  it('may have several addresses; an unreachable one is avoided for a while', async () => {
    const sink = await sinkAt(OTHER);
    const transport = transportByName(sink.port, [ONE, OTHER]);
    const tried: string[] = [];
    const watch = (message: unknown): void => {
      (message as { socket: Socket }).socket.on('connectionAttempt', (address) => tried.push(address));
    };
    subscribe('net.client.socket', watch);
    for (let n = 1; n <= 20; n += 1) await transport.send(ENVELOPE, MESSAGE);
    unsubscribe('net.client.socket', watch);
    expect(sink.count).toBe(20);
    expect(tried.filter((address) => address === ONE).length).toBeLessThanOrEqual(1);
  });

  it('may have several addresses; if all are unreachable, the error names each', async () => {
    const { port } = await sinkAt(OTHER);
    expect(await transportByName(port, [ONE, THIRD]).send(ENVELOPE, MESSAGE)).toMatchObject({
      kind: 'broken',
      stage: 'connect',
      error: expect.stringMatching(/ECONNREFUSED 127\.0\.0\.[46]:\d+.*; .*ECONNREFUSED 127\.0\.0\.[46]:/),
    });
  });

  const REFUSES: SinkAnswer = { reply: '554 5.3.2 not here', drop: true };

  it.each([
    ['refuses', REFUSES],
    ['turns away', { reply: '421 4.3.2 too busy', drop: true }],
    ['hangs up', { drop: true }],
    ['is silent', {}],
  ])(
    'may lead to several servers of which one %s, which is asked no more for a while',
    async (_what, answer) => {
      const good = await sinkAt(OTHER);
      const bad = await sinkAt(ONE, good.port, answerAt('greeting', answer));
      const transport = transportByName(good.port, [ONE, OTHER]);
      for (let n = 1; n <= 8; n += 1)
        expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
      expect(bad.connections.total).toBeLessThanOrEqual(1);
    },
  );

  it('may have several addresses; if all refuse, each is tried once per message', async () => {
    const script = answerAt('greeting', REFUSES);
    const one = await sinkAt(ONE, undefined, script);
    const other = await sinkAt(OTHER, one.port, script);
    const transport = transportByName(one.port, [ONE, OTHER]);
    for (const asked of [1, 2]) {
      expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'refused', stage: 'greeting' });
      expect([one.connections.total, other.connections.total]).toEqual([asked, asked]);
    }
  });

  it('may have several addresses; if one cannot check the password for now, the others are tried', async () => {
    const good = await sinkAt(OTHER);
    const fails = answerAt('auth', { reply: '454 4.7.0 Temporary authentication failure' });
    const bad = await sinkAt(ONE, good.port, fails);
    const transport = transportByName(good.port, [ONE, OTHER], 'joe:hunter2@');
    for (let n = 1; n <= 8; n += 1)
      expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    expect(bad.connections.total).toBeLessThanOrEqual(1);
  });

  it('may have several addresses; if one rejects the password, the others are not tried', async () => {
    const script = answerAt('auth', { reply: '535 5.7.8 wrong' });
    const one = await sinkAt(ONE, undefined, script);
    const other = await sinkAt(OTHER, one.port, script);
    const transport = transportByName(one.port, [ONE, OTHER], 'joe:hunter2@');
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'refused', stage: 'auth' });
    expect(one.connections.total + other.connections.total).toBe(1);
  });

  it('may not resolve', async () => {
    const transport = transportTo('smtp://relay.invalid', {
      lookUp: () => Promise.reject(new Error('getaddrinfo ENOTFOUND relay.invalid')),
    });
    expect(await transport.send(ENVELOPE, MESSAGE)).toEqual({
      kind: 'broken',
      stage: 'connect',
      error: 'getaddrinfo ENOTFOUND relay.invalid',
    });
  });
});

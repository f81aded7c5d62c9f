import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { decideAfterAttempt } from '@posthorn/domain';
import { answerAt, type ScriptedSmtpServer, type SinkScript } from '@posthorn/testing';
import { ENVELOPE, MESSAGE, open, scripted } from '../relays.fixture.ts';
import { SmtpTransport, type SmtpTransportOptions } from '../smtp-transport.ts';
import { RelayBreaker } from './relay-breaker.ts';
import { RelayChain, type RelayEvent } from './relay-chain.ts';

interface Chain {
  readonly servers: ScriptedSmtpServer[];
  readonly events: RelayEvent[];
  readonly durations: [relay: string, ms: number][];
  readonly chain: RelayChain;
  /** Lets time pass for the breakers. */
  readonly pass: (ms: number) => void;
}

/** A chain of a relay for each script, with a breaker that goes by a clock of the test. */
function chainOf(...scripts: SinkScript[]): Promise<Chain> {
  return chainWith({}, scripts);
}

async function chainWith(
  options: SmtpTransportOptions,
  scripts: SinkScript[],
  extensions: readonly string[][] = [],
): Promise<Chain> {
  const servers = await Promise.all(
    scripts.map((script, n) => scripted(script, extensions[n] ?? ['PIPELINING'])),
  );
  const events: RelayEvent[] = [];
  let nowMs = 0;
  const relays = servers.map(({ url }) => {
    // Only silence takes so long, however busy the machine is.
    const transport = new SmtpTransport(url, {
      socketTimeoutMs: 3_000,
      commandTimeoutMs: 3_000,
      ...options,
    });
    const breaker = new RelayBreaker(() => nowMs);
    return { transport, breaker };
  });
  const durations: Chain['durations'] = [];
  const chain = new RelayChain(
    relays,
    (event) => events.push(event),
    (...duration) => durations.push(duration),
  );
  open.unshift(chain);
  return { servers, events, durations, chain, pass: (ms) => void (nowMs += ms) };
}

const WELL: SinkScript = () => undefined;
/** Whether a claim still holds that is lost after this was asked so often: before a relay, when a slot is free, and after connecting. */
const heldFor = (times: number): (() => boolean) => {
  let asked = 0;
  return () => (asked += 1) <= times;
};
const taken = ({ servers }: Chain): number[] => servers.map(({ messages }) => messages.length);

describe('relays in order of preference', () => {
  it('are not used while the first one accepts everything', async () => {
    const chain = await chainOf(WELL, WELL);
    for (let n = 0; n < 5; n += 1)
      expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    expect(taken(chain)).toEqual([5, 0]);
    expect(chain.servers[1]!.connections.total).toBe(0);
  });

  it.each([
    ['greeting', { reply: '554 5.3.2 go away' }],
    ['ehlo', { drop: true }],
    ['mail', { reply: '550 5.7.1 Client host rejected' }],
    ['mail', { drop: true }],
    ['rcpt', { drop: true }],
    ['rcpt', {}],
    ['data', { drop: true }],
    ['data', { reply: '421 4.3.2 going down', drop: true }],
    ['content', { reply: '421 4.3.2 going down', drop: true }],
  ] as const)(
    'give way when the one before has proven that it took nothing, at %s: %j',
    async (stage, answer) => {
      const chain = await chainOf(answerAt(stage, answer), WELL);
      const relay = chain.servers[1]!.url.replace('smtp://', '');
      expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted', relay });
      expect(taken(chain)).toEqual([0, 1]);
    },
  );

  it.each([
    ['rcpt', { reply: '550 5.1.1 no such user' }, { kind: 'refused' }],
    ['rcpt', { reply: '451 4.7.1 greylisted' }, { kind: 'refused' }],
    ['content', { reply: '554 5.6.0 not that' }, { kind: 'refused' }],
    ['content', { drop: true }, { kind: 'unknown' }],
    ['content', {}, { kind: 'unknown' }],
    ['content', { reply: '999 what' }, { kind: 'unknown' }],
  ] as const)(
    'never give way when it may have it, or has judged the email, at %s: %j',
    async (stage, answer, outcome) => {
      const chain = await chainOf(answerAt(stage, answer), WELL);
      expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject(outcome);
      expect(chain.servers[1]!.connections.total).toBe(0);
    },
  );

  describe('of which not each can take the email', () => {
    const international = { ...ENVELOPE, to: 'jörg@example.com' };
    const able = ['PIPELINING', 'SMTPUTF8'];
    const unable = ['PIPELINING'];
    const DOWN = answerAt('greeting', { drop: true });

    it('leave it to the next one that can', async () => {
      const chain = await chainWith({}, [WELL, WELL], [unable, able]);
      expect(await chain.chain.send(international, MESSAGE)).toMatchObject({ kind: 'accepted' });
      expect(taken(chain)).toEqual([0, 1]);
      expect(chain.events).toEqual([]);
    });

    it('have refused it for good if none can', async () => {
      const chain = await chainWith({}, [WELL, WELL], [unable, unable]);
      const refused = await chain.chain.send(international, MESSAGE);
      expect(refused).toMatchObject({ kind: 'refused', relay: new URL(chain.servers[0]!.url).host });
      expect(decideAfterAttempt(refused!, 0)).toEqual({ kind: 'failed' });
    });

    it.each([
      ['the first is unavailable', [DOWN, WELL], [able, unable]],
      ['the last is unavailable', [WELL, DOWN], [unable, able]],
    ])('delay it while one that may be able to is unavailable: %s', async (_which, scripts, extensions) => {
      const chain = await chainWith({}, scripts, extensions);
      // The second time its breaker is open.
      for (let n = 0; n < 2; n += 1) {
        const refused = await chain.chain.send(international, MESSAGE);
        expect(refused).toMatchObject({ kind: 'refused', unasked: true });
        expect(decideAfterAttempt(refused!, 0)).toMatchObject({ kind: 'retry' });
      }
      for (const server of chain.servers) server.script = WELL;
      chain.pass(1_000);
      expect(await chain.chain.send(international, MESSAGE)).toMatchObject({ kind: 'accepted' });
    });

    it('delay it if the lease has ended before all were tried', async () => {
      const chain = await chainWith({}, [WELL, WELL], [unable, able]);
      const refused = await chain.chain.send(international, MESSAGE, heldFor(3));
      expect([decideAfterAttempt(refused!, 0).kind, taken(chain)]).toEqual(['retry', [0, 0]]);
    });
  });

  it('have a breaker each: an unavailable one is skipped, probed, and used again when it is back', async () => {
    const chain = await chainOf(answerAt('greeting', { reply: '421 4.3.2 busy' }), WELL);
    const [first, second] = chain.servers;
    for (let n = 0; n < 5; n += 1) await chain.chain.send(ENVELOPE, MESSAGE);
    expect(first!.connections.total).toBe(1);
    expect(second!.messages).toHaveLength(5);
    expect(chain.chain.retryAfterMs).toBe(0);
    first!.script = WELL;
    chain.pass(1_000);
    for (let n = 0; n < 3; n += 1) await chain.chain.send(ENVELOPE, MESSAGE);
    expect(taken(chain)).toEqual([3, 5]);
    const name = first!.url.replace('smtp://', '');
    expect(chain.events).toEqual([
      { relay: name, isAvailable: false, reason: 'greeting: 421 busy' },
      { relay: name, isAvailable: true },
    ]);
  });

  it('are available again once they accept an envelope, not only when all of a large email has arrived', async () => {
    let hasArrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (hasArrived = resolve));
    const chain = await chainOf(answerAt('greeting', { drop: true }));
    const [server] = chain.servers;
    await chain.chain.send(ENVELOPE, MESSAGE);
    server!.script = answerAt('content', { after: arrival });
    chain.pass(1_000);
    const probe = chain.chain.send(ENVELOPE, MESSAGE);
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toBeUndefined();
    for (let n = 0; n < 100 && chain.chain.retryAfterMs > 0; n += 1) await sleep(20);
    server!.script = WELL;
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    hasArrived();
    expect(await probe).toMatchObject({ kind: 'accepted' });
    expect(chain.events.map(({ isAvailable }) => isAvailable)).toEqual([false, true]);
  });

  it.each([
    ['is withheld', (chain: RelayChain) => chain.send(ENVELOPE, MESSAGE, heldFor(1))],
    [
      'is of an email that cannot be sent',
      (chain: RelayChain) => chain.send({ ...ENVELOPE, to: '' }, MESSAGE).catch(() => undefined),
    ],
  ])('are probed again at once when the probe %s', async (_why, probe) => {
    const chain = await chainOf(answerAt('greeting', { drop: true }));
    const [server] = chain.servers;
    await chain.chain.send(ENVELOPE, MESSAGE);
    server!.script = WELL;
    chain.pass(1_000);
    expect(await probe(chain.chain)).toBeUndefined();
    expect(chain.chain.retryAfterMs).toBe(0);
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
  });

  it('say how long they take for an email, without the wait for a connection', async () => {
    const [arrives, answers] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: SinkScript = (stage) => {
      if (stage !== 'content') return undefined;
      arrives.resolve();
      return { after: answers.promise };
    };
    const { chain, durations, pass, servers } = await chainWith({ maxConnections: 1 }, [slow]);
    const first = chain.send(ENVELOPE, MESSAGE);
    await arrives.promise;
    const second = chain.send(ENVELOPE, MESSAGE);
    pass(7_000);
    answers.resolve();
    await Promise.all([first, second]);
    const relay = new URL(servers[0]!.url).host;
    expect(durations).toEqual([
      [relay, 7_000],
      [relay, 0],
    ]);
  });

  it('send nothing while all are unavailable', async () => {
    const chain = await chainOf(
      answerAt('greeting', { drop: true }),
      answerAt('ehlo', { reply: '502 5.5.1 no', drop: true }),
    );
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'broken', stage: 'ehlo' });
    expect(chain.chain.retryAfterMs).toBeGreaterThan(0);
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toBeUndefined();
    expect(chain.servers.map(({ connections }) => connections.total)).toEqual([1, 1]);
  });

  it('count a transmission that the first one broke off, even if the next one is unavailable', async () => {
    const chain = await chainOf(answerAt('rcpt', { drop: true }), answerAt('greeting', { drop: true }));
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'broken', stage: 'rcpt' });
  });

  it('are not tried after the lease has ended', async () => {
    const chain = await chainOf(answerAt('greeting', { drop: true }), WELL);
    await chain.chain.send(ENVELOPE, MESSAGE, heldFor(2));
    expect(chain.servers.map(({ connections }) => connections.total)).toEqual([1, 0]);
  });

  it('stay available while they accept emails, even if they refuse further connections', async () => {
    const chain = await chainOf(WELL);
    const [server] = chain.servers;
    server!.script = (stage) =>
      stage === 'greeting' && server!.connections.open > 1
        ? { reply: '421 4.7.0 too many connections', drop: true }
        : undefined;
    const sends = Array.from({ length: 20 }, () => chain.chain.send(ENVELOPE, MESSAGE));
    expect(new Set((await Promise.all(sends)).map((answer) => answer?.kind))).toEqual(new Set(['accepted']));
    expect([taken(chain), chain.events]).toEqual([[20], []]);
  });

  it.each([
    ['mail', { reply: '550 5.7.1 Invalid credentials for relay [192.0.2.1]' }],
    ['rcpt', { reply: '530 5.7.0 Authentication required' }],
    ['content', { reply: '550 5.7.1 authentication required' }],
  ] as const)(
    'stay available while they serve others, if they refuse one email at %s in words that could be about us: %j',
    async (stage, answer) => {
      const chain = await chainOf((reached, { from }) =>
        reached === stage && from === 'odd@example.com' ? answer : undefined,
      );
      for (let n = 0; n < 3; n += 1) {
        expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
        const refused = await chain.chain.send({ ...ENVELOPE, from: 'odd@example.com' }, MESSAGE);
        expect(decideAfterAttempt(refused!, 0)).toMatchObject({ kind: 'retry' });
        chain.pass(4_000);
      }
      expect(chain.events).toEqual([]);
      expect(chain.chain.retryAfterMs).toBe(0);
    },
  );

  it.each(['452 4.3.1 Insufficient system storage', '421 4.7.0 too much mail'])(
    'become unavailable even while they serve others, if they get too much: %s',
    async (reply) => {
      const chain = await chainOf(WELL);
      await chain.chain.send(ENVELOPE, MESSAGE);
      chain.servers[0]!.script = answerAt('mail', { reply });
      const refused = await chain.chain.send(ENVELOPE, MESSAGE);
      expect(decideAfterAttempt(refused!, 0)).toEqual({ kind: 'relay_unavailable' });
      expect(chain.events).toMatchObject([{ isAvailable: false }]);
    },
  );

  it('become unavailable when nobody is served any more, whatever email is refused', async () => {
    const chain = await chainOf(WELL);
    await chain.chain.send(ENVELOPE, MESSAGE);
    chain.servers[0]!.script = answerAt('mail', { reply: '550 5.7.1 Client host rejected' });
    const verdicts: string[] = [];
    for (let second = 0; second < 6; second += 1) {
      const refused = await chain.chain.send(ENVELOPE, MESSAGE);
      verdicts.push(decideAfterAttempt(refused!, 0).kind);
      chain.pass(1_000);
    }
    expect(verdicts).toEqual(['retry', 'retry', 'retry', 'retry', 'retry', 'relay_unavailable']);
    expect(chain.events).toMatchObject([{ isAvailable: false }]);
  });

  it.each([
    ['needs what the relay does not offer', { ...ENVELOPE, to: 'jörg@example.com' }, ['PIPELINING']],
    ['is larger than the relay takes', ENVELOPE, ['SIZE 20']],
  ])(
    'are not taken to serve others because of an email that was refused without asking them: it %s',
    async (_why, envelope, extensions) => {
      const chain = await chainWith({}, [WELL], [extensions]);
      chain.servers[0]!.script = answerAt('mail', { reply: '530 5.7.0 Authentication required' });
      const refused = await chain.chain.send(envelope, MESSAGE);
      expect(decideAfterAttempt(refused!, 0)).toEqual({ kind: 'failed' });
      const small = Buffer.from('A: b\r\n\r\n.\r\n');
      expect(decideAfterAttempt((await chain.chain.send(ENVELOPE, small))!, 0)).toEqual({
        kind: 'relay_unavailable',
      });
      expect(chain.events).toMatchObject([{ isAvailable: false }]);
    },
  );

  it('are not available again because of an email that was refused without asking them', async () => {
    const chain = await chainOf(answerAt('mail', { reply: '530 5.7.0 Authentication required' }));
    await chain.chain.send(ENVELOPE, MESSAGE);
    chain.pass(1_000);
    const refused = await chain.chain.send({ ...ENVELOPE, to: 'jörg@example.com' }, MESSAGE);
    expect(decideAfterAttempt(refused!, 0)).toEqual({ kind: 'failed' });
    expect(chain.events).toMatchObject([{ isAvailable: false }]);
    // The next email is the probe.
    expect(chain.chain.retryAfterMs).toBe(0);
  });

  it.each([
    ['rcpt', 'broken'],
    ['content', 'unknown'],
  ] as const)(
    'are not available again because an earlier email has found no answer at %s',
    async (stage, kind) => {
      const { promise: isReached, resolve: reach } = Promise.withResolvers<void>();
      const chain = await chainOf((reached) => (reached === stage ? (reach(), {}) : undefined));
      const unanswered = chain.chain.send(ENVELOPE, MESSAGE);
      await isReached;
      chain.servers[0]!.script = answerAt('greeting', { reply: '554 5.3.2 go away' });
      await chain.chain.send(ENVELOPE, MESSAGE);
      expect(await unanswered).toMatchObject({ kind });
      expect(chain.events).toMatchObject([{ isAvailable: false }]);
    },
  );

  it('are not available again because of a probe that has found no answer', async () => {
    const chain = await chainOf(answerAt('greeting', { drop: true }));
    await chain.chain.send(ENVELOPE, MESSAGE);
    chain.servers[0]!.script = answerAt('rcpt', { drop: true });
    chain.pass(1_000);
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'broken', stage: 'rcpt' });
    expect(chain.events.map(({ isAvailable }) => isAvailable)).toEqual([false, false]);
    expect(chain.chain.retryAfterMs).toBe(2_000);
  });

  it('are not tried by emails that waited for a connection meanwhile, once they are unavailable', async () => {
    const hangUp = Promise.withResolvers<void>();
    const hangsUp = answerAt('greeting', { after: hangUp.promise, drop: true });
    const chain = await chainWith({ maxConnections: 1 }, [hangsUp, WELL]);
    const sends = [1, 2, 3].map(() => chain.chain.send(ENVELOPE, MESSAGE));
    hangUp.resolve();
    expect((await Promise.all(sends)).map((answer) => answer?.kind)).toEqual(sends.map(() => 'accepted'));
    expect(taken(chain)).toEqual([0, 3]);
    expect(chain.servers[0]!.connections.total).toBe(1);
  });

  it('take an email over a connection that is established after they became unavailable, and are available again', async () => {
    const welcome = Promise.withResolvers<void>();
    const chain = await chainOf((stage, { connection }) => {
      if (stage !== 'greeting') return undefined;
      return connection === 1 ? { reply: '220 hello', after: welcome.promise } : { drop: true };
    });
    const first = chain.chain.send(ENVELOPE, MESSAGE);
    for (let n = 0; n < 100 && chain.servers[0]!.connections.total === 0; n += 1) await sleep(20);
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'broken', stage: 'greeting' });
    expect(chain.chain.retryAfterMs).toBeGreaterThan(0);
    welcome.resolve();
    expect(await first).toMatchObject({ kind: 'accepted' });
    expect(chain.events.map(({ isAvailable }) => isAvailable)).toEqual([false, true]);
  });

  it('stay available when a connection fails that was being opened before they were available again', async () => {
    const hangUps = [1, 2].map(() => Promise.withResolvers<void>());
    const chain = await chainOf((stage, { connection }) =>
      stage === 'greeting' && connection <= hangUps.length
        ? { reply: '554 5.3.2 no service', after: hangUps[connection - 1]!.promise, drop: true }
        : undefined,
    );
    const sends = hangUps.map(() => chain.chain.send(ENVELOPE, MESSAGE));
    chain.pass(30_000);
    hangUps[0]!.resolve();
    await Promise.race(sends);
    chain.pass(1_000);
    expect(await chain.chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    hangUps[1]!.resolve();
    expect((await Promise.all(sends)).map((answer) => answer?.kind)).toEqual(['refused', 'refused']);
    expect(chain.events.map(({ isAvailable }) => isAvailable)).toEqual([false, true]);
    expect(chain.chain.retryAfterMs).toBe(0);
  });
});

describe('relays that are left', () => {
  const PATIENT = { greetingTimeoutMs: 600_000, commandTimeoutMs: 600_000, socketTimeoutMs: 600_000 };

  it.each([
    ['greeting', []],
    ['ehlo', []],
    ['starttls', ['STARTTLS']],
    ['mail', []],
    ['rcpt', []],
    ['data', []],
    ['mail', ['PIPELINING']],
  ] as const)(
    'are not waited for when they are silent at %s (%j), nor taken for unavailable, and no other is tried',
    async (silentAt, extensions) => {
      const isReached = Promise.withResolvers<void>();
      const silent: SinkScript = (stage) => (stage === silentAt ? (isReached.resolve(), {}) : undefined);
      const chain = await chainWith(PATIENT, [silent, WELL], [[...extensions], []]);
      const sent = chain.chain.send(ENVELOPE, MESSAGE);
      await isReached.promise;
      chain.chain.leave();
      expect(await sent).toBeUndefined();
      await chain.chain.close();
      expect([chain.events, chain.chain.retryAfterMs, taken(chain)]).toEqual([[], 0, [0, 0]]);
      expect(chain.servers[1]!.connections.total).toBe(0);
    },
  );

  it('are waited for when a message is on its way, and say goodbye afterwards', async () => {
    const isReached = Promise.withResolvers<void>();
    const isTold = Promise.withResolvers<void>();
    const chain = await chainWith(PATIENT, [
      (stage) => (stage === 'content' ? (isReached.resolve(), { after: isTold.promise }) : undefined),
    ]);
    const sent = chain.chain.send(ENVELOPE, MESSAGE);
    await isReached.promise;
    chain.chain.leave();
    isTold.resolve();
    expect(await sent).toMatchObject({ kind: 'accepted' });
    await chain.chain.close();
    expect([taken(chain), chain.servers[0]!.commands.at(-1)]).toEqual([[1], 'QUIT']);
  });
});

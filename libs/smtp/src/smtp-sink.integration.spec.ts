import { describe, expect, it } from '@jest/globals';
import { answerAt, type SinkScript, type SinkStage, type SmtpSink } from '@posthorn/testing';
import { ENVELOPE, MESSAGE, sinkWith, transportTo, withLogin } from './relays.fixture.ts';
import type { SmtpTransport } from './smtp-transport.ts';

async function start(script?: SinkScript, socketTimeoutMs = 60_000): Promise<[SmtpSink, SmtpTransport]> {
  const sink = await sinkWith({ auth: true, ...(script === undefined ? {} : { script }) });
  return [sink, transportTo(withLogin(sink), { socketTimeoutMs })];
}

const STAGES: SinkStage[] = ['greeting', 'auth', 'mail', 'rcpt', 'content'];

describe('the sink', () => {
  it('stores messages with their envelope and time', async () => {
    const [sink, transport] = await start();
    setTimeout(() => void transport.send(ENVELOPE, MESSAGE), 20);
    expect(await sink.received(1)).toEqual([
      {
        from: 'a@example.com',
        to: ['b@example.com'],
        raw: MESSAGE,
        receivedAt: expect.any(Date),
        connection: 1,
      },
    ]);
  });

  it('says how many messages it has if it waits for more in vain', async () => {
    const [sink] = await start();
    await expect(sink.received(2, 30)).rejects.toThrow('0 of 2 messages after 30 ms');
  });

  it.each(STAGES)('refuses at %s with the reply that its script gives', async (stage) => {
    const [sink, transport] = await start(answerAt(stage, { reply: '554 5.5.0 no' }));
    expect(await transport.send(ENVELOPE, MESSAGE)).toEqual({
      kind: 'refused',
      stage,
      reply: { code: 554, enhancedCode: '5.5.0', text: 'no' },
    });
    expect(sink.count).toBe(0);
  });

  it.each(STAGES)('closes the connection at %s', async (stage) => {
    const [, transport] = await start(answerAt(stage, { drop: true }));
    const expected = stage === 'content' ? { kind: 'unknown' } : { kind: 'broken', stage };
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject(expected);
  });

  it('is silent, or goes on after a while', async () => {
    const [sink, transport] = await start((stage, { to }) => {
      if (stage !== 'rcpt') return undefined;
      return to[0] === 'silent@example.com' ? {} : { delayMs: 50 };
    }, 3_000);
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect(await transport.send({ ...ENVELOPE, to: 'silent@example.com' }, MESSAGE)).toMatchObject({
      kind: 'broken',
      stage: 'rcpt',
    });
    expect(sink.count).toBe(1);
  });

  it('passes the envelope to its script', async () => {
    const seen: unknown[] = [];
    const [, transport] = await start((stage, { from, to, transaction }) => {
      seen.push([stage, from, to, transaction]);
      return undefined;
    });
    await transport.send(ENVELOPE, MESSAGE);
    expect(seen.slice(2)).toEqual([
      ['mail', 'a@example.com', [], 1],
      ['rcpt', 'a@example.com', ['b@example.com'], 1],
      ['content', 'a@example.com', ['b@example.com'], 1],
    ]);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isTooFast, type Transmission } from '@posthorn/domain';
import { answerAt, WebhookReceiver } from '@posthorn/testing';
import { ENVELOPE, MESSAGE, scripted, transportTo } from '../relays.fixture.ts';
import { RelayBreaker } from './relay-breaker.ts';
import { RelayChain, type RelayEvent } from './relay-chain.ts';
import type { OnReached, RelayTransport } from './relay-transport.ts';
import type { SmtpEnvelope } from './smtp-envelope.ts';

/** What the statuses of this relay mean, in the terms of SMTP: the rules know no others. */
const TRANSMISSIONS: Readonly<Record<number, Transmission>> = {
  200: { kind: 'accepted', reply: { code: 250, text: 'taken' } },
  400: { kind: 'refused', stage: 'content', reply: { code: 554, text: 'Message rejected' } },
  403: { kind: 'refused', stage: 'auth', reply: { code: 535, text: 'Access denied' } },
  429: {
    kind: 'refused',
    stage: 'mail',
    reply: { code: 454, text: 'Throttling failure: Maximum sending rate exceeded' },
  },
};

/** Sends through a relay that takes each message with its envelope as one POST. */
class HttpTransport implements RelayTransport {
  constructor(private readonly url: string) {}

  get name(): string {
    return new URL(this.url).host;
  }

  async send(
    { from, to }: SmtpEnvelope,
    message: Buffer,
    onReached: OnReached,
  ): Promise<Transmission | undefined> {
    if (!onReached('slot')) return undefined;
    try {
      const body = new Uint8Array(message);
      const { status } = await fetch(this.url, { method: 'POST', headers: { from, to }, body });
      return TRANSMISSIONS[status];
    } catch (failure) {
      const { code = '' } = (failure as Error).cause as NodeJS.ErrnoException;
      // Anything else may have happened after the relay had the whole message.
      return code === 'ECONNREFUSED'
        ? { kind: 'broken', stage: 'connect', error: code }
        : { kind: 'unknown', error: code };
    }
  }

  leave(): void {
    // The message is on its way from the beginning: there is nothing to break off.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

describe('A relay that is reached by HTTP', () => {
  let receiver: WebhookReceiver;
  let events: RelayEvent[];
  beforeEach(async () => {
    receiver = await WebhookReceiver.start();
    events = [];
  });
  afterEach(() => receiver.close());

  /** The clock of its breakers stands still. */
  const chainOf = (...transports: RelayTransport[]): RelayChain =>
    new RelayChain(
      transports.map((transport) => ({ transport, breaker: new RelayBreaker(() => 0) })),
      (event) => events.push(event),
    );

  it('takes what a relay before it that is reached by SMTP cannot', async () => {
    const down = await scripted(answerAt('greeting', { drop: true }));
    const http = new HttpTransport(receiver.url());
    const relay = http.name;
    const chain = chainOf(transportTo(down.url), http);
    expect(await chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted', relay });
    expect(receiver.posts).toMatchObject([{ headers: ENVELOPE, body: MESSAGE }]);
  });

  it.each([
    [400, { kind: 'refused', stage: 'content' }, true],
    [403, { kind: 'accepted' }, false],
    [429, { kind: 'accepted' }, false],
  ])('has its answers judged like those of any other: %i', async (status, outcome, isAvailable) => {
    receiver.answer = () => ({ status });
    const next = await scripted();
    const chain = chainOf(new HttpTransport(receiver.url()), transportTo(next.url));
    expect(await chain.send(ENVELOPE, MESSAGE)).toMatchObject(outcome);
    expect(next.messages).toHaveLength(isAvailable ? 0 : 1);
    expect(events).toMatchObject(isAvailable ? [] : [{ relay: new URL(receiver.url()).host, isAvailable }]);
  });

  it('can say that it gets too much', async () => {
    receiver.answer = () => ({ status: 429 });
    const answer = await chainOf(new HttpTransport(receiver.url())).send(ENVELOPE, MESSAGE);
    expect(isTooFast(answer!)).toBe(true);
  });

  it('gives way when it cannot be reached, and is not asked again at once', async () => {
    const http = new HttpTransport(receiver.url());
    await receiver.close();
    const next = await scripted();
    const chain = chainOf(http, transportTo(next.url));
    for (let n = 0; n < 2; n += 1)
      expect(await chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    expect(next.messages).toHaveLength(2);
    expect(events).toMatchObject([{ isAvailable: false, reason: 'connect: ECONNREFUSED' }]);
  });

  it('never gives way when it may have the message', async () => {
    receiver.answer = () => {
      throw new Error('hangs up');
    };
    const next = await scripted();
    const chain = chainOf(new HttpTransport(receiver.url()), transportTo(next.url));
    expect(await chain.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'unknown' });
    expect(receiver.posts).toHaveLength(1);
    expect(next.connections.total).toBe(0);
  });
});

import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { Transmission } from '@posthorn/domain';
import { RenderingFailed, UncomposableMessage } from '@posthorn/rendering';
import type { SmtpEnvelope } from '@posthorn/smtp';
import { claimedEmail } from './claimed-email.fixture.ts';
import { UnsignableEmail } from './compose-email.ts';
import { DeliverEmail } from './deliver-email.ts';

const DATABASE_GONE = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const BUG = new Error('x is not a function');
const ok: Transmission = { kind: 'accepted', reply: { code: 250, text: 'ok' } };
const tooFast: Transmission = {
  kind: 'refused',
  stage: 'rcpt',
  reply: { code: 450, enhancedCode: '4.2.1', text: 'The user is receiving mail too quickly' },
};
const broken: Transmission = { kind: 'broken', stage: 'content', error: 'it was reset' };
const lost: Transmission = { kind: 'unknown', error: 'the connection was closed' };
const unreachable: Transmission = { kind: 'broken', stage: 'connect', error: 'refused' };

interface Surroundings {
  readonly compose?: () => Buffer;
  readonly whyWithheld?: () => 'complaint' | null;
  readonly send?: () => Transmission | undefined;
  readonly retryAfterMs?: number;
  /** Absent: reports do not come back to us. */
  readonly reportsDeliveries?: boolean;
}

/** Delivers emails; `done` is what was done for that, in order. */
function delivery({
  compose = () => Buffer.from('message'),
  whyWithheld = () => null,
  send = () => ok,
  retryAfterMs = 0,
  reportsDeliveries,
}: Surroundings) {
  const done: unknown[] = [];
  const errors: unknown[] = [];
  const envelopes: SmtpEnvelope[] = [];
  function noting<Result>(what: string, act: () => Result): () => Promise<Result> {
    return () => {
      done.push(what);
      return Promise.resolve().then(act);
    };
  }
  const transmit = noting('transmitted', () => {
    const transmission = send();
    return transmission && { ...transmission, relay: 'smtp.example.net:587' };
  });
  const delivering = new DeliverEmail({
    composer: { compose: noting('composed', compose) },
    recipients: { whyWithheld: noting('asked', whyWithheld) },
    relays: {
      retryAfterMs,
      send: (envelope) => {
        envelopes.push(envelope);
        return transmit();
      },
    },
    ...(reportsDeliveries !== undefined && {
      bounceAddresses: { addressFor: (id) => `${id}@bounces.example.org` },
      reportsDeliveries,
    }),
    gate: { pass: (_lane, work) => work() },
    pace: { noteAnswer: (isTooFast) => done.push({ isTooFast }) },
    onError: (error) => errors.push(error),
  });
  const deliver = (change: Parameters<typeof claimedEmail>[0] = {}, mayStillBegin = true) =>
    delivering.deliver(claimedEmail(change), () => mayStillBegin);
  return { deliver, done, errors, envelopes };
}

const throwing = (error: Error) => (): never => {
  throw error;
};

describe('An email', () => {
  it('is given back, without an attempt, while no relay may be tried: not even composed', async () => {
    const { deliver, done } = delivery({ retryAfterMs: 1 });
    expect([await deliver(), done]).toEqual([undefined, []]);
  });

  it.each([DATABASE_GONE, BUG])(
    'S19: is given back while it cannot be checked whether its recipient is suppressed: %s',
    async (error) => {
      const { deliver, done, errors } = delivery({ whyWithheld: throwing(error) });
      expect([await deliver(), done, errors]).toEqual([undefined, ['composed', 'asked'], [error]]);
    },
  );

  it('S19: is withheld if its recipient was suppressed while it was composed', async () => {
    const { deliver, done } = delivery({ whyWithheld: () => 'complaint' });
    expect(await deliver()).toMatchObject({ status: 'SUPPRESSED', detail: { reason: 'complaint' } });
    expect(done).toEqual(['composed', 'asked']);
  });

  it('S19: is withheld without being composed if that is known since it was claimed', async () => {
    const { deliver, done } = delivery({});
    expect(await deliver({ withheldFor: 'unsubscribed' })).toMatchObject({ status: 'SUPPRESSED' });
    expect(done).toEqual([]);
  });

  it('is given back if the database has gone, which has its template', async () => {
    const { deliver, done, errors } = delivery({ compose: throwing(DATABASE_GONE) });
    expect([await deliver(), done, errors]).toEqual([undefined, ['composed'], [DATABASE_GONE]]);
  });

  it('is given back if it could not be composed because the process is ending, which ends its threads', async () => {
    const { deliver, done, errors } = delivery({ compose: throwing(new RenderingFailed('crash', 'closed')) });
    expect([await deliver({}, false), done, errors]).toEqual([undefined, ['composed'], []]);
  });

  it.each([
    ['internal', BUG, null, 1],
    ['unsignable', new UnsignableEmail('example.com', new Error('its key is missing')), null, 1],
    ['uncomposable', new UncomposableMessage('the subject has a line break'), 'FAILED', 0],
    ['rendering_deadline', new RenderingFailed('deadline', 'it took too long'), null, 0],
  ])('that cannot be composed is not sent: %s', async (reason, error, status, told) => {
    const { deliver, done, errors } = delivery({ compose: throwing(error) });
    expect(await deliver()).toMatchObject({ status, detail: { reason } });
    expect([done, errors.length]).toEqual([['composed'], told]);
  });

  it('is tried again later after a fault of ours before any relay was contacted', async () => {
    const { deliver, errors } = delivery({ send: throwing(BUG) });
    expect(await deliver()).toMatchObject({ status: null, detail: { reason: 'internal' } });
    expect(errors).toEqual([BUG]);
  });

  it.each([
    ['no relay may be tried any more', undefined],
    ['the relay cannot be reached', unreachable],
  ])('is given back, without an attempt, if %s', async (_what, transmission) => {
    const { deliver } = delivery({ send: () => transmission });
    expect(await deliver()).toBeUndefined();
  });

  it.each([
    ['accepted', ok, [{ isTooFast: false }]],
    ['refused as too fast', tooFast, [{ isTooFast: true }]],
    ['broken', broken, []],
    ['unknown', lost, []],
  ])('tells of the rate that the relay takes only by its answer: %s', async (_what, transmission, told) => {
    const { deliver, done } = delivery({ send: () => transmission });
    await deliver();
    expect(done).toEqual(['composed', 'asked', 'transmitted', ...told]);
  });

  it.each([
    ['failures and delays', false, ['FAILURE', 'DELAY']],
    ['deliveries too, if that is wanted', true, ['FAILURE', 'DELAY', 'SUCCESS']],
  ])('asks for reports where they come back to us: of %s', async (_what, reportsDeliveries, of) => {
    const { deliver, envelopes } = delivery({ reportsDeliveries });
    const id = newId('trs', 0);
    await deliver({ id });
    const from = `${id}@bounces.example.org`;
    expect(envelopes).toEqual([{ from, to: 'b@example.com', reports: { envelopeId: id, of } }]);
  });

  it('asks for no reports where these would reach its sender', async () => {
    const { deliver, envelopes } = delivery({});
    await deliver();
    expect(envelopes).toEqual([{ from: 'a@example.com', to: 'b@example.com' }]);
  });
});

import { createSecretKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId, sleep } from '@posthorn/kernel';
import { parseAddressRange, webhookLane } from '@posthorn/domain';
import type { ClaimedDelivery, ReceiverReport } from '@posthorn/database';
import { DnsResolver } from '@posthorn/dns';
import { SecretNotOpened } from '@posthorn/signing';
import { DnsServer, HostileReceiver, WebhookReceiver } from '@posthorn/testing';
import { WebhookClient } from '@posthorn/webhooks';
import { DeliverEvent } from './deliver-event.ts';
import { SLOW_MS, type OutcomeWithReport } from './outcome-of-post.ts';
import type { ReceiverWithKeys } from './receivers.ts';

const DNS_TIMEOUT_MS = 5_000;
const DEADLINE_MS = 30_000;
const NAME = 'receiver.example';
const WEBHOOK = newId('wh', Date.now());
const DELIVERY: ClaimedDelivery = {
  id: newId('dlv', Date.now()),
  claims: 1,
  attempts: 0,
  attemptsMade: 0,
  bytes: 2,
  workspaceId: newId('wrk', Date.now()),
  webhookId: WEBHOOK,
  laneId: webhookLane(WEBHOOK),
  payload: '{}',
  traceparent: null,
  laneHasMore: false,
  askedAtMs: 0,
  eventId: newId('evt', Date.now()),
  event: 'CONTACT_CREATED',
  isTest: false,
};

let dns: DnsServer;
let dead: DnsServer;
let receiver: HostileReceiver;
beforeAll(async () => {
  [dns, dead, receiver] = await Promise.all([DnsServer.start(), DnsServer.start(), HostileReceiver.start()]);
  dead.set(NAME, 'silent');
});
afterAll(() => Promise.all([dns.close(), dead.close(), receiver.close()]));

interface Told {
  readonly outcome: OutcomeWithReport | undefined;
  /** What was reported during the POST. */
  readonly slowReports: readonly (ReceiverReport | null)[];
}

interface Circumstances {
  readonly onAddresses?: () => void;
  /** Undefined: the webhook was deleted. */
  readonly status?: ReceiverWithKeys['status'] | undefined;
  readonly mayStillBegin?: boolean;
  /** Whether the receiver is known to be slow. */
  readonly isSlow?: boolean;
  /** Why the receiver cannot be read. */
  readonly fault?: Error;
  /** Called with what is reported during the POST. */
  readonly onSlow?: (report: ReceiverReport | null) => void;
}

/**
 * Delivers what was claimed while its receiver did not count as slow.
 *
 * @param path of the receiver of all tests; or the URL of another one
 */
async function deliver(
  path: string,
  servers: readonly string[],
  circumstances: Circumstances = {},
): Promise<Told> {
  const { onAddresses, status, mayStillBegin, isSlow, fault, onSlow } = {
    onAddresses: () => undefined,
    onSlow: () => undefined,
    status: 'ACTIVE' as const,
    mayStillBegin: true,
    isSlow: false,
    ...circumstances,
  };
  const resolver = new DnsResolver({ servers, timeoutMs: DNS_TIMEOUT_MS });
  const policy = { allowsHttp: true, networks: [parseAddressRange('127.0.0.1')!] };
  const client = new WebhookClient({ policy, lookUp: (name) => resolver.lookUpAddresses(name) });
  const health = { failingSince: null, warnedAt: null, isSlow };
  const found: ReceiverWithKeys | undefined = status && {
    id: WEBHOOK,
    url: new URL(path, receiver.url('/', NAME)).href,
    status,
    asOf: '1',
    health,
    sealedToken: Buffer.alloc(0),
    sealedPreviousToken: null,
    keys: [createSecretKey('token', 'utf8')],
  };
  const deliverEvent = new DeliverEvent({
    receivers: { find: () => (fault ? Promise.reject(fault) : Promise.resolve(found)) },
    client: {
      post: (request, onKnown) => client.post(request, () => (onKnown?.(), onAddresses())),
    },
    clock: { now: () => new Date() },
    deadlineMs: DEADLINE_MS,
    onError: (error) => {
      if (error !== fault) throw error;
    },
  });
  const slowReports: (ReceiverReport | null)[] = [];
  const outcome = await deliverEvent.deliver(
    DELIVERY,
    () => mayStillBegin,
    (report) => {
      slowReports.push(report);
      onSlow(report);
    },
  );
  client.close();
  return { outcome, slowReports };
}

describe('A receiver that answers at once', () => {
  it('W8: is not slow, and keeps its permit, while one of two name servers is dead', async () => {
    dns.set(NAME, { addresses: ['127.0.0.1'] });
    const { outcome, slowReports } = await deliver('/ok', [dead.address, dns.address]);
    expect([outcome?.status, outcome?.report, slowReports]).toEqual(['SUCCEEDED', null, []]);
  });

  it('W8: is not slow because its look-up was, but releases its permit meanwhile', async () => {
    const slow = Promise.withResolvers<void>();
    dns.set(NAME, { addresses: ['127.0.0.1'], after: slow.promise.then(() => sleep(100)) });
    const { outcome, slowReports } = await deliver('/ok', [dns.address], { onSlow: () => slow.resolve() });
    expect([outcome?.status, outcome?.report, slowReports]).toEqual(['SUCCEEDED', null, [null]]);
    expect(outcome!.attempt!.durationMs).toBeGreaterThan(SLOW_MS);
  });

  it('W8: is not slow, and keeps its permit, while this process is suspended', async () => {
    dns.set(NAME, { addresses: ['127.0.0.1'] });
    const onAddresses = (): void => {
      for (const until = performance.now() + SLOW_MS + 500; performance.now() < until;);
    };
    const { outcome, slowReports } = await deliver('/ok', [dns.address], { onAddresses });
    expect([outcome?.status, outcome?.report, slowReports]).toEqual(['SUCCEEDED', null, []]);
    expect(outcome!.attempt!.durationMs).toBeGreaterThan(SLOW_MS);
  });
});

it('W8: Nothing is reported to be slow once the receiver has answered', async () => {
  dns.set(NAME, { addresses: ['127.0.0.1'] });
  const { slowReports } = await deliver('/ok', [dns.address]);
  await sleep(SLOW_MS + 100);
  expect(slowReports).toEqual([]);
});

describe('A slow receiver', () => {
  it('W8: is slow from 2 s after its addresses are known, also after a slow look-up', async () => {
    const [lookUp, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    dns.set(NAME, { addresses: ['127.0.0.1'], after: lookUp.promise });
    const slow = await WebhookReceiver.start(() => ({ status: 200, after: answer.promise }));
    const url = slow.url().replace('127.0.0.1', NAME);
    const onSlow = (report: ReceiverReport | null): void => (report === null ? lookUp : answer).resolve();
    const { outcome, slowReports } = await deliver(url, [dns.address], { onSlow });
    await slow.close();
    expect(slowReports).toMatchObject([null, { effect: 'awaited', isSlow: true }]);
    expect(outcome!.report).toMatchObject({ effect: 'succeeded', isSlow: true });
  });

  it('W8: is slow when its look-up takes all the time', async () => {
    dns.set(NAME, 'silent');
    const { outcome, slowReports } = await deliver('/ok', [dns.address]);
    expect(slowReports).toEqual([null]);
    expect(outcome).toMatchObject({
      report: { effect: 'failed', isSlow: true },
      attempt: { errorClass: 'dns' },
    });
  });
});

describe('After the claim, a receiver', () => {
  it.each<[string, Circumstances]>([
    ['that is paused', { status: 'PAUSED' }],
    ['that is disabled', { status: 'DISABLED' }],
    ['that another dispatcher has found to be slow', { isSlow: true }],
    ['whose delivery is no longer claimed', { mayStillBegin: false }],
    ['that is read while the database is away', { fault: new Error('Connection terminated unexpectedly') }],
  ])('%s is sent nothing, and it costs no attempt', async (_what, circumstances) => {
    const before = receiver.requests.length;
    const { outcome } = await deliver('/ok', [dns.address], circumstances);
    expect([outcome, receiver.requests.length]).toEqual([undefined, before]);
  });

  it('whose webhook is deleted is sent nothing, and the delivery is cancelled', async () => {
    const before = receiver.requests.length;
    const { outcome } = await deliver('/ok', [dns.address], { status: undefined });
    expect(outcome).toMatchObject({ status: 'CANCELLED', attempt: null });
    expect(receiver.requests).toHaveLength(before);
  });

  it.each<[string, Error, number, string]>([
    [
      'whose token cannot be decrypted',
      new SecretNotOpened('the key old is not in ENCRYPTION_KEYS'),
      300_000,
      'give the webhook another token',
    ],
    ['that cannot be read by a fault of ours', new Error('a bug'), 30_000, 'it will be, soon'],
  ])(
    '%s is sent nothing, and the delivery waits without a step of its schedule',
    async (_what, fault, retryAfterMs, reason) => {
      const before = receiver.requests.length;
      const { outcome } = await deliver('/ok', [dns.address], { fault });
      expect(outcome).toMatchObject({
        status: null,
        attempt: null,
        report: null,
        ownFault: { number: 1, reason: expect.stringContaining(reason) },
        retryAfterMs,
        steps: 0,
      });
      expect(receiver.requests).toHaveLength(before);
    },
  );
});

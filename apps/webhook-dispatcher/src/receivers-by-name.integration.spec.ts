import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DnsResolver } from '@posthorn/dns';
import { sleep } from '@posthorn/kernel';
import { parseAddressRange } from '@posthorn/domain';
import { type DnsBehaviour, DnsServer, HostileReceiver } from '@posthorn/testing';
import { type PostResult, WebhookClient } from '@posthorn/webhooks';

/** Nothing that is answered takes so long, however busy the machine is. */
const DNS_TIMEOUT_MS = 10_000;
/** For what is never answered. */
const HASTY_DNS_MS = 400;
const DEADLINE_MS = 20_000;
const NAME = 'receiver.example';

let dns: DnsServer;
let receiver: HostileReceiver;
let client: WebhookClient;
beforeAll(async () => {
  [dns, receiver] = await Promise.all([DnsServer.start(), HostileReceiver.start()]);
  client = clientBy(dns.address);
});
afterEach(() => client.closeIdle());
afterAll(async () => {
  client.close();
  await Promise.all([dns.close(), receiver.close()]);
});

/** One that may post to 127.0.0.1 alone, which stands for the internet here. */
function clientBy(server: string, timeoutMs = DNS_TIMEOUT_MS): WebhookClient {
  const resolver = new DnsResolver({ servers: [server], timeoutMs });
  const policy = { allowsHttp: true, networks: [parseAddressRange('127.0.0.1')!] };
  return new WebhookClient({ policy, lookUp: (name) => resolver.lookUpAddresses(name) });
}

const post = (path = '/ok', by = client, deadlineMs = DEADLINE_MS): Promise<PostResult> =>
  by.post({ url: receiver.url(path, NAME), headers: {}, body: Buffer.from('{}'), deadlineMs });

/** How many requests came meanwhile. */
async function requestsDuring(action: () => Promise<unknown>): Promise<number> {
  const before = receiver.requests.length;
  await action();
  return receiver.requests.length - before;
}

describe('a receiver by its name', () => {
  it.each([
    ['an address', { addresses: ['127.0.0.1'] }],
    ['500 records of it', { addresses: Array.from({ length: 500 }, () => '127.0.0.1') }],
  ] as [string, DnsBehaviour][])('W7: is reached by %s', async (_what, behaviour) => {
    dns.set(NAME, behaviour);
    expect(await post()).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('W7: is reached by an alias', async () => {
    dns.set('front.example', { addresses: ['127.0.0.1'] });
    dns.set(NAME, { cname: 'front.example' });
    expect(await post()).toMatchObject({ kind: 'answered', status: 200 });
  });

  it.each([
    ['a private address', { addresses: ['10.0.0.1'] }],
    ['another address of this machine', { addresses: ['127.0.0.2'] }],
    ['a private address among others', { addresses: ['127.0.0.1', '192.168.1.1'] }],
    ['a private address of the other family', { addresses: ['127.0.0.1', 'fd00::1'] }],
    ['a private address in IPv6', { addresses: ['::ffff:10.0.0.1'] }],
    ['the metadata of a cloud', { addresses: ['169.254.169.254'] }],
    [
      '500 records with one that is private',
      { addresses: [...Array.from({ length: 499 }, () => '127.0.0.1'), '10.0.0.1'] },
    ],
  ] as [string, DnsBehaviour][])('W1: is posted nothing when it leads to %s', async (_what, behaviour) => {
    dns.set(NAME, behaviour);
    expect(
      await requestsDuring(async () => expect(await post()).toMatchObject({ errorClass: 'blocked' })),
    ).toBe(0);
  });

  it('W1: is posted nothing when an alias leads inside', async () => {
    dns.set('inside.example', { addresses: ['10.0.0.1'] });
    dns.set(NAME, { cname: 'inside.example' });
    expect(await post()).toMatchObject({ errorClass: 'blocked' });
  });

  it('W1: is looked up once a POST, so it cannot lead elsewhere between the judgement and the connection', async () => {
    dns.set(NAME, { addresses: ['127.0.0.1'] });
    const asked = dns.queries.length;
    const before = receiver.requests.length;
    const posted = post('/after/200');
    while (receiver.requests.length === before) await sleep(5);
    dns.set(NAME, { addresses: ['10.0.0.1'] });
    expect(await posted).toMatchObject({ status: 200 });
    const types = dns.queries.slice(asked).map(({ type }) => type);
    expect(types.sort()).toEqual([1, 28]);
  });

  it('W1: is looked up at every POST, so that what was good before is not good for ever', async () => {
    dns.set(NAME, { addresses: ['127.0.0.1'] });
    expect(await post()).toMatchObject({ status: 200 });
    expect(client.connections.idle).toBe(1);
    dns.set(NAME, { addresses: ['10.0.0.1'] });
    expect(await post()).toMatchObject({ errorClass: 'blocked' });
    dns.set(NAME, { addresses: ['127.0.0.1'] });
    expect(await post()).toMatchObject({ status: 200 });
  });
});

describe('a name without an address', () => {
  it.each([
    ['there is none', { rcode: 'NXDOMAIN' }, 'has no address', DNS_TIMEOUT_MS],
    ['nothing is at it', 'empty', 'has no address', DNS_TIMEOUT_MS],
    ['its servers fail', { rcode: 'SERVFAIL' }, 'SERVFAIL', DNS_TIMEOUT_MS],
    ['its servers refuse', { rcode: 'REFUSED' }, 'REFUSED', DNS_TIMEOUT_MS],
    ['its servers are silent', 'silent', 'no name server answered', HASTY_DNS_MS],
    ['its servers talk nonsense', 'garbage', '', HASTY_DNS_MS],
  ] as [string, DnsBehaviour, string, number][])(
    'W8: is the fault of whoever gave it, when %s',
    async (_why, behaviour, reason, timeoutMs) => {
      dns.set(NAME, behaviour);
      const result = await post('/ok', clientBy(dns.address, timeoutMs));
      expect(result).toMatchObject({
        kind: 'failed',
        errorClass: 'dns',
        reason: expect.stringContaining(reason),
      });
      expect(result.durationMs).toBeLessThan(DEADLINE_MS);
    },
  );

  it('W8: is a fault of ours when there is no name server at all', async () => {
    const lost = clientBy('127.0.0.1:1');
    expect(await post('/ok', lost)).toMatchObject({
      kind: 'ours',
      reason: expect.stringContaining('name server'),
    });
  });

  it('W7: takes no longer than the deadline, however long the look-up would', async () => {
    dns.set(NAME, 'silent');
    const result = await post('/ok', clientBy(dns.address, 2_000), 300);
    // The end of the look-up would be of the class `dns`.
    expect(result).toMatchObject({ errorClass: 'timeout', reason: expect.stringContaining('looked up') });
  });
});

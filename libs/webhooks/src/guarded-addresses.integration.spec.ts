import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parseAddressRange, type WebhookUrlPolicy } from '@posthorn/domain';
import { HostileReceiver } from '@posthorn/testing';
import { BODY, failed, LOOPBACK, namesIn, PATIENT_MS } from './loopback.fixture.ts';
import type { PostResult } from './post-request.ts';
import { WebhookClient } from './webhook-client.ts';

const STRICT: WebhookUrlPolicy = { allowsHttp: false, networks: [] };
const HTTP_TO_PUBLIC: WebhookUrlPolicy = { allowsHttp: true, networks: [] };
/** An operator's mistake that is soon made. */
const EVERYTHING: WebhookUrlPolicy = {
  allowsHttp: true,
  networks: ['0.0.0.0/0', '::/0'].map((range) => parseAddressRange(range)!),
};

const [receiver, proxy] = await Promise.all([HostileReceiver.start(), HostileReceiver.start()]);
afterAll(() => Promise.all([receiver.close(), proxy.close()]));

async function post(url: string, policy: WebhookUrlPolicy, addresses: string[] = []): Promise<PostResult> {
  const client = new WebhookClient({ policy, lookUp: namesIn({ 'receiver.example': addresses }) });
  const result = await client.post({ url, headers: {}, body: BODY, deadlineMs: PATIENT_MS });
  client.close();
  return result;
}

describe('W1: nothing is posted to an address that is not public', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '１２７.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '0.0.0.0',
    '10.0.0.1',
    '169.254.169.254',
    '[fe80::1]',
    'localhost',
    'metadata.google.internal',
  ])('in whatever notation: %s', async (host) => {
    expect(await post(receiver.url('/ok', host), HTTP_TO_PUBLIC)).toMatchObject(
      failed('blocked', /not public/),
    );
  });

  it.each([
    ['one private address', ['10.0.0.1']],
    ['this machine', ['127.0.0.1']],
    ['a private address among public ones', ['93.184.215.14', '127.0.0.1']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1']],
    ['something that is no address', ['not an address']],
  ])('by a name that leads to %s', async (_what, addresses) => {
    const result = await post(receiver.url('/ok', 'receiver.example'), HTTP_TO_PUBLIC, addresses);
    expect(result).toMatchObject(failed('blocked', /^the name resolves to an address that is not public$/));
    for (const address of addresses) expect(JSON.stringify(result)).not.toContain(address);
  });

  it('not even if the operator allows it, for addresses that are always blocked', async () => {
    for (const host of ['169.254.169.254', '0.0.0.0', '[fe80::1]', '100.100.100.200'])
      expect(await post(`http://${host}/`, EVERYTHING)).toMatchObject(failed('blocked', /not public/));
  });

  it.each([
    'ftp://a.example/',
    'http://u:p@a.example/',
    'https://a.example/#x',
    'https://a.example:0/',
    '',
    'no url',
  ])('nor by what is no URL of a webhook: %s', async (url) => {
    expect(await post(url, EVERYTHING)).toMatchObject(failed('blocked', /^the URL /));
  });

  it('nor without TLS, unless the operator allows it', async () => {
    expect(await post('http://93.184.215.14/', STRICT)).toMatchObject(failed('blocked', 'https'));
  });

  it('and nothing was received by any server', () => {
    expect(receiver.connections.total).toBe(0);
  });
});

describe('the environment', () => {
  it('W7: does not configure a proxy for webhooks', async () => {
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : proxy.url('');
    const result = await post(receiver.url('/ok'), LOOPBACK);
    for (const name of names) delete process.env[name];
    expect(result).toMatchObject({ status: 200 });
    expect(proxy.connections.total).toBe(0);
  });
});

describe('several addresses', () => {
  it('W7: one that refuses is skipped', async () => {
    const result = await post(receiver.url('/ok', 'receiver.example'), LOOPBACK, [
      '127.0.0.9',
      '::1',
      '127.0.0.1',
    ]);
    expect(result).toMatchObject({ status: 200 });
  });

  it('are tried by IPv4 first, which networks without IPv6 do not wait for', async () => {
    const url = receiver.url('/ok', 'receiver.example');
    const byIPv6 = createServer((_request, response) => response.end()).listen(
      Number(new URL(url).port),
      '::1',
    );
    // Where there is no IPv6, as in many containers, nobody listens there.
    await once(byIPv6, 'listening').catch(() => undefined);
    const result = await post(url, LOOPBACK, ['::1', '127.0.0.1']);
    byIPv6.close();
    expect(result).toMatchObject({ status: 200, body: 'thank you' });
  });

  it('are tried four at most, so that time is left for the answer', async () => {
    const refusing = ['127.0.0.6', '127.0.0.7', '127.0.0.8', '127.0.0.9'];
    const url = receiver.url('/ok', 'receiver.example');
    expect(await post(url, LOOPBACK, [...refusing, '127.0.0.1'])).toMatchObject(
      failed('connect', 'refused the connection'),
    );
    expect(await post(url, LOOPBACK, [...refusing.slice(1), '127.0.0.1'])).toMatchObject({ status: 200 });
  });

  it('W7: if all refuse, the connection is refused', async () => {
    const result = await post(receiver.url('/ok', 'receiver.example'), LOOPBACK, ['127.0.0.9', '127.0.0.8']);
    expect(result).toMatchObject(failed('connect', 'refused the connection'));
  });
});

import { describe, expect, it } from '@jest/globals';
import { parseRelayUrl, relayName } from './relay-url.ts';

describe('an SMTP_URL', () => {
  it.each([
    ['smtp://relay.example.com', { host: 'relay.example.com', port: 587, implicitTls: false }],
    ['smtps://relay.example.com', { host: 'relay.example.com', port: 465, implicitTls: true }],
    ['smtp://127.0.0.1:25/', { host: '127.0.0.1', port: 25, implicitTls: false }],
    ['smtp://[::1]:2525', { host: '::1', port: 2525, implicitTls: false }],
    [
      'smtp://me%40example.com:p%3A%2F%40ss@relay:26',
      {
        host: 'relay',
        port: 26,
        implicitTls: false,
        credentials: { user: 'me@example.com', password: 'p:/@ss' },
      },
    ],
    [
      'smtp://me%40example.com@relay:26',
      { host: 'relay', port: 26, implicitTls: false, credentials: { user: 'me@example.com' } },
    ],
  ])('is understood: %s', (url, address) => {
    expect(parseRelayUrl(url)).toEqual(address);
  });

  it.each([
    ['', 'is not a URL'],
    ['relay', 'is not a URL'],
    ['http://joe:hunter2@relay', 'is neither smtp:// nor smtps://'],
    ['smtp://joe:hun/ter2@relay', 'is not a URL'],
    ['smtp://joe:12/hunter2@relay', 'has something after the host'],
    ['smtp://joe:hunter2@relay?pool=true', 'has something after the host'],
    ['smtp://joe:hunter2@relay/#x', 'has something after the host'],
    ['smtp://joe:hunter2%@relay', 'has a user or password that is not percent-encoded'],
    ['smtp://:hunter2@relay', 'names a password without a user'],
    ['smtp://joe:hunter2@relay:99999', 'is not a URL'],
    ['smtp://joe:hunter2@relay:0', 'names port 0, at which no server listens'],
    ['smtp:relay', 'names no host'],
    [
      'smtp://joe:hunter2@one.example,two.example',
      'names a host that is neither a name in ASCII nor an address',
    ],
    ['smtp://joe:hunter2@bücher.example', 'names a host that is neither a name in ASCII nor an address'],
  ])('is refused without being repeated: %s', (url, what) => {
    let error: unknown;
    try {
      parseRelayUrl(url);
    } catch (caught) {
      error = caught;
    }
    expect(error).toMatchObject({ message: expect.stringContaining(`SMTP_URL ${what};`) });
    // Not its frames: the checkout may lie in a folder of that name.
    const [said] = (error as Error).stack!.split(/^ {4}at /m);
    expect(JSON.stringify([error, String(error), said])).not.toMatch(/hun|ter2|joe/);
    expect((error as Error).cause).toBeUndefined();
  });
});

it.each([
  ['smtp://relay.example.com', 'relay.example.com:587'],
  ['smtp://[2001:db8::1]:2525', '[2001:db8::1]:2525'],
])('%s is the relay %s', (url, name) => {
  expect(relayName(parseRelayUrl(url))).toBe(name);
});

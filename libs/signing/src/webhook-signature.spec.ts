import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import { signBody, signMessage, webhookKey } from './webhook-signature.ts';
import { newWebhookToken } from './webhook-token.ts';

/** The library of Standard Webhooks, as receivers use it; CommonJS. */
interface Receiver {
  /** @throws when no signature matches */
  verify(body: Buffer, headers: Record<string, string>): unknown;
}
const require = createRequire(import.meta.url);
const { Webhook } = require('standardwebhooks') as {
  Webhook: new (key: string, options?: { format: 'raw' }) => Receiver;
};

const ID = 'evt_01k9zq7v3nf4b8gq2m5c6d7e8f';
const BODIES = [
  '{"event":"CONTACT_CREATED","createdAt":"2026-01-02T03:04:05.678Z","data":{}}',
  '{"data":{"name":"Zoë 💌 \\u0000","lines":"a\\r\\nb"}}',
  ' {"spaces" : "stay" }\n',
].map((text) => Buffer.from(text));
/** A generated token, and tokens that a workspace may choose: 8 to 256 characters of printable ASCII. */
const TOKENS = [
  newWebhookToken(),
  'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  'a b,c.d"e\\f=',
  `~${'x'.repeat(255)}`,
];
const KEYS = TOKENS.map(webhookKey);
const CASES = TOKENS.flatMap((token) => BODIES.map((body) => ({ token, body })));

const now = (): number => Math.floor(Date.now() / 1000);

/** The same HMAC, made by OpenSSL. */
function openssl(body: Buffer, token: string): string {
  const key = Buffer.from(token).toString('hex');
  const args = ['dgst', '-sha256', '-mac', 'HMAC', '-macopt', `hexkey:${key}`];
  return execFileSync('openssl', args, { input: body, encoding: 'utf8' }).replace(/^.*= /, '').trim();
}

const receiver = (token: string): Receiver => new Webhook(token, { format: 'raw' });

const headers = (signature: string, unixSeconds: number): Record<string, string> => ({
  'webhook-id': ID,
  'webhook-timestamp': String(unixSeconds),
  'webhook-signature': signature,
});

describe('X-Service-Signature', () => {
  it('W5, W6: is the HMAC-SHA256 of the exact bytes with the whole token as the key, as OpenSSL makes it', () => {
    for (const { token, body } of CASES) expect(signBody(body, webhookKey(token))).toBe(openssl(body, token));
  });

  it('W6: is lower-case hexadecimal', () => {
    expect(signBody(BODIES[0]!, KEYS[0]!)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('W5: changes when a space is added to the body', () => {
    const [body] = BODIES;
    const spaced = Buffer.concat([body!, Buffer.from(' ')]);
    expect(signBody(spaced, KEYS[0]!)).not.toBe(signBody(body!, KEYS[0]!));
  });
});

describe('webhook-signature', () => {
  it('W6: is accepted by the library of Standard Webhooks', () => {
    for (const { token, body } of CASES) {
      const unixSeconds = now();
      const signature = signMessage({ id: ID, unixSeconds, body }, [webhookKey(token)]);
      const verified = receiver(token).verify(body, headers(signature, unixSeconds));
      expect(verified).toEqual(JSON.parse(body.toString()));
      const inBase64 = new Webhook(Buffer.from(token).toString('base64'));
      expect(inBase64.verify(body, headers(signature, unixSeconds))).toEqual(verified);
    }
  });

  it('W6: is accepted with the new token and with the old one after a rotation', () => {
    const [body, [fresh, old, another]] = [BODIES[1]!, TOKENS];
    const unixSeconds = now();
    const signature = signMessage({ id: ID, unixSeconds, body }, [fresh!, old!].map(webhookKey));
    expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    for (const token of [fresh!, old!]) receiver(token).verify(body, headers(signature, unixSeconds));
    expect(() => receiver(another!).verify(body, headers(signature, unixSeconds))).toThrow('No matching');
  });

  it('W6: is refused with another id, another time or another body', () => {
    const [token] = TOKENS;
    const unixSeconds = now();
    const signature = signMessage({ id: ID, unixSeconds, body: BODIES[0]! }, [webhookKey(token!)]);
    const good = headers(signature, unixSeconds);
    const forged: [Buffer, Record<string, string>][] = [
      [BODIES[1]!, good],
      [BODIES[0]!, { ...good, 'webhook-id': `${ID}x` }],
      [BODIES[0]!, { ...good, 'webhook-timestamp': String(unixSeconds + 1) }],
    ];
    for (const [body, sent] of forged)
      expect(() => receiver(token!).verify(body, sent)).toThrow('No matching signature');
  });

  it('W6: is refused by a receiver when it is six minutes old', () => {
    const unixSeconds = now() - 6 * 60;
    const signature = signMessage({ id: ID, unixSeconds, body: BODIES[0]! }, [KEYS[0]!]);
    expect(() => receiver(TOKENS[0]!).verify(BODIES[0]!, headers(signature, unixSeconds))).toThrow('too old');
  });
});

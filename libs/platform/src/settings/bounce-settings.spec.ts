import { describe, expect, it } from '@jest/globals';
import { BounceSettings } from './bounce-settings.ts';
import { InboundSettings } from './inbound-settings.ts';
import { readSettings } from './read-settings.ts';
import { SenderSettings } from './sender-settings.ts';

const bounces = (value: string) =>
  readSettings({ bounces: BounceSettings }, { BOUNCE_DOMAIN: value }).bounces;
const inbound = (env: Record<string, string>) => readSettings({ inbound: InboundSettings }, env).inbound;

describe('BOUNCE_DOMAIN', () => {
  it('is a domain, and optional', () => {
    expect(bounces('bounces.example.com').BOUNCE_DOMAIN).toBe('bounces.example.com');
    expect(bounces('').BOUNCE_DOMAIN).toBeUndefined();
  });

  it.each([
    ...['example', 'Bounces.example.com', 'a@example.com', 'bücher.example', '192.0.2.1', 'a..example'],
    `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(20)}.example`,
  ])('cannot be %s', (value) => {
    expect(() => bounces(value)).toThrow(/BOUNCE_DOMAIN .* it must be one domain in lower case/);
  });
});

describe('SMTP_EHLO_NAME', () => {
  const greeting = (SMTP_EHLO_NAME: string) =>
    readSettings({ sender: SenderSettings }, { SMTP_URL: 'smtp://relay.example', SMTP_EHLO_NAME }).sender
      .SMTP_EHLO_NAME;

  it('is a fully qualified domain name, and optional', () => {
    expect([greeting('posthorn.example.com'), greeting('')]).toEqual(['posthorn.example.com', undefined]);
    expect(() => greeting('localhost')).toThrow(/SMTP_EHLO_NAME .* it must be one domain/);
    expect(() => greeting('a.example QUIT')).toThrow(/SMTP_EHLO_NAME/);
  });
});

describe('INBOUND_…', () => {
  it('require a certificate and its key together', () => {
    expect(() => inbound({ INBOUND_TLS_CERTIFICATE: '/etc/tls.crt' })).toThrow(/go together; set both/);
    expect(inbound({ INBOUND_TLS_CERTIFICATE: '/a', INBOUND_TLS_KEY: '/b' }).INBOUND_TLS_KEY).toBe('/b');
  });

  it('limit the rate of a client address, unless it is set to unlimited', () => {
    expect(inbound({}).limits.recipients).toEqual({ amount: 100, periodSeconds: 1, burst: 1_000 });
    expect(inbound({ INBOUND_MAILS_PER_SECOND: '0' }).limits.recipients).toBeNull();
  });
});

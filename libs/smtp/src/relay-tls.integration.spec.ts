import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transmission } from '@posthorn/domain';
import { ScriptedSmtpServer, SmtpSink, type SinkScript, TestAuthority } from '@posthorn/testing';
import type { TlsPolicy } from './connection-settings.ts';
import { RelayTransport, type RelayTransportOptions } from './relay-transport.ts';

const ENVELOPE = { from: 'a@example.com', to: 'b@example.com' };
const MESSAGE = Buffer.from('Subject: hello\r\n\r\nhello\r\n');
/** Only silence takes so long, however busy the machine is. */
const SHORT = { commandTimeoutMs: 3_000, connectionTimeoutMs: 3_000 };
const POLICIES = ['opportunistic', 'required', 'verified'] as const;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

let authority: TestAuthority;
beforeAll(() => {
  authority = TestAuthority.create();
});
afterAll(() => authority.close());

function transportTo(url: string, tlsPolicy: TlsPolicy, options: RelayTransportOptions = {}): RelayTransport {
  const transport = new RelayTransport(url, { tlsPolicy, tls: { ca: authority.certificate }, ...options });
  open.unshift(transport);
  return transport;
}

function send(url: string, tlsPolicy: TlsPolicy, options?: RelayTransportOptions): Promise<Transmission> {
  return transportTo(url, tlsPolicy, options).send(ENVELOPE, MESSAGE);
}

/** A relay whose certificate is right for 127.0.0.1, is for somebody else, has expired, or is vouched for by nobody. */
function certificate(of: 'right' | 'other' | 'expired' | 'self'): { key: string; cert: string } {
  if (of === 'self') return authority.selfSigned({ names: ['IP:127.0.0.1'] });
  const names = [of === 'other' ? 'DNS:other.example' : 'IP:127.0.0.1'];
  return authority.issue({ names, hasExpired: of === 'expired' });
}

describe('a relay with STARTTLS', () => {
  it.each(
    (['right', 'other', 'expired', 'self'] as const).flatMap((of) =>
      POLICIES.map((policy) => [of, policy, of === 'right' || policy !== 'verified'] as const),
    ),
  )('whose certificate is %s is, under %s, trusted with the mail: %s', async (of, policy, isTrusted) => {
    const sink = await SmtpSink.start({ starttls: certificate(of) });
    open.push(sink);
    const transmission = await send(sink.url, policy);
    expect(transmission).toMatchObject(
      isTrusted ? { kind: 'accepted' } : { kind: 'broken', stage: 'starttls' },
    );
    expect(sink.count).toBe(isTrusted ? 1 : 0);
  });

  it.each(POLICIES)('gets no password under %s if its certificate is invalid', async (policy) => {
    const sink = await SmtpSink.start({ auth: true, starttls: certificate('other') });
    open.push(sink);
    const url = sink.url.replace('//', '//joe:hunter2@');
    expect(await send(url, policy)).toMatchObject({ kind: 'broken', stage: 'starttls' });
    expect(sink.count).toBe(0);
  });
});

describe('a relay whose STARTTLS does not work', () => {
  const faults: readonly (readonly [string, SinkScript])[] = [
    ['refuses it', (stage) => (stage === 'starttls' ? { reply: '454 4.7.0 not now' } : undefined)],
    [
      'refuses it and hangs up',
      (stage) => (stage === 'starttls' ? { reply: '454 4.7.0 no', drop: true } : undefined),
    ],
    ['ends the session', (stage) => (stage === 'starttls' ? { reply: '421 4.7.0 too many' } : undefined)],
    ['hangs up', (stage) => (stage === 'starttls' ? { reply: '220 go on', drop: true } : undefined)],
    ['talks nonsense', (stage) => (stage === 'starttls' ? { reply: '220 go on\r\nwhat?' } : undefined)],
    ['falls silent', () => undefined],
  ];

  async function relayThat(script: SinkScript): Promise<ScriptedSmtpServer> {
    const server = await ScriptedSmtpServer.start(script, { extensions: ['STARTTLS', 'AUTH PLAIN'] });
    open.push(server);
    return server;
  }

  it.each(faults)('and that %s is used in plaintext if TLS is not required', async (_what, script) => {
    const server = await relayThat(script);
    const transport = transportTo(server.url, 'opportunistic', SHORT);
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    expect(await transport.greet()).toMatchObject({ isSecured: false, tlsFailure: { stage: 'starttls' } });
  });

  it.each(faults)('and that %s gets no mail if it is, and never a password', async (_what, script) => {
    const server = await relayThat(script);
    const withPassword = server.url.replace('//', '//joe:hunter2@');
    const transmissions = await Promise.all([
      send(server.url, 'required', SHORT),
      send(server.url, 'verified', SHORT),
      send(withPassword, 'opportunistic', SHORT),
    ]);
    for (const transmission of transmissions) expect(transmission).toMatchObject({ stage: 'starttls' });
    expect(server.messages).toEqual([]);
    expect(server.commands.join()).not.toContain('AUTH');
  });
});

describe('a relay without STARTTLS', () => {
  it.each([
    ['opportunistic', 1],
    ['required', 0],
    ['verified', 0],
  ] as const)('gets under %s so many mails: %i', async (policy, count) => {
    const sink = await SmtpSink.start();
    open.push(sink);
    const { kind } = await send(sink.url, policy);
    expect(kind === 'accepted' ? 1 : 0).toBe(count);
    expect(sink.count).toBe(count);
  });
});

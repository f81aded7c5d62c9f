import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transmission } from '@posthorn/domain';
import { answerAt, type ScriptedSmtpServer, type SinkScript, TestAuthority } from '@posthorn/testing';
import type { TlsPolicy } from './connection-settings.ts';
import { ENVELOPE, MESSAGE, scripted, sinkWith, transportTo, withLogin } from './relays.fixture.ts';
import type { SmtpTransport, SmtpTransportOptions } from './smtp-transport.ts';

/** Only silence takes so long, however busy the machine is. */
const SHORT = { commandTimeoutMs: 3_000, connectionTimeoutMs: 3_000 };
const POLICIES = ['opportunistic', 'required', 'verified'] as const;

let authority: TestAuthority;
beforeAll(() => {
  authority = TestAuthority.create();
});
afterAll(() => authority.close());

function transportUnder(
  tlsPolicy: TlsPolicy,
  url: string,
  options: SmtpTransportOptions = {},
): SmtpTransport {
  return transportTo(url, { tlsPolicy, tls: { ca: authority.certificate }, ...options });
}

function send(url: string, tlsPolicy: TlsPolicy, options?: SmtpTransportOptions): Promise<Transmission> {
  return transportUnder(tlsPolicy, url, options).send(ENVELOPE, MESSAGE);
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
    const sink = await sinkWith({ starttls: certificate(of) });
    const transmission = await send(sink.url, policy);
    expect(transmission).toMatchObject(
      isTrusted ? { kind: 'accepted' } : { kind: 'broken', stage: 'starttls' },
    );
    expect(sink.count).toBe(isTrusted ? 1 : 0);
  });

  it.each(POLICIES)('gets no password under %s if its certificate is invalid', async (policy) => {
    const sink = await sinkWith({ auth: true, starttls: certificate('other') });
    expect(await send(withLogin(sink), policy)).toMatchObject({ kind: 'broken', stage: 'starttls' });
    expect(sink.count).toBe(0);
  });
});

describe('a relay whose STARTTLS does not work', () => {
  const faults: readonly (readonly [string, SinkScript])[] = [
    ['refuses it', answerAt('starttls', { reply: '454 4.7.0 not now' })],
    ['refuses it and hangs up', answerAt('starttls', { reply: '454 4.7.0 no', drop: true })],
    ['ends the session', answerAt('starttls', { reply: '421 4.7.0 too many' })],
    ['hangs up', answerAt('starttls', { reply: '220 go on', drop: true })],
    ['talks nonsense', answerAt('starttls', { reply: '220 go on\r\nwhat?' })],
    ['falls silent', () => undefined],
  ];

  const relayThat = (script: SinkScript): Promise<ScriptedSmtpServer> =>
    scripted(script, ['STARTTLS', 'AUTH PLAIN']);

  it.each(faults)('and that %s is used in plaintext if TLS is not required', async (_what, script) => {
    const server = await relayThat(script);
    const transport = transportUnder('opportunistic', server.url, SHORT);
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'accepted' });
    expect(await transport.greet()).toMatchObject({ isSecured: false, tlsFailure: { stage: 'starttls' } });
  });

  it.each(faults)('and that %s gets no mail if it is, and never a password', async (_what, script) => {
    const server = await relayThat(script);
    const transmissions = await Promise.all([
      send(server.url, 'required', SHORT),
      send(server.url, 'verified', SHORT),
      send(withLogin(server), 'opportunistic', SHORT),
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
    const sink = await sinkWith();
    const { kind } = await send(sink.url, policy);
    expect(kind === 'accepted' ? 1 : 0).toBe(count);
    expect(sink.count).toBe(count);
  });
});

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '@posthorn/domain';
import { AccessTokens, SmtpTransport } from '@posthorn/smtp';
import {
  answerAt,
  listenOnLoopback,
  ScriptedSmtpServer,
  TestAuthority,
  TokenServer,
} from '@posthorn/testing';
import { relayChecks } from './neighbour-checks.ts';

/** Only silence takes so long, however busy the machine is. */
const SHORT_MS = 2_000;

let authority: TestAuthority;
beforeAll(() => {
  authority = TestAuthority.create();
});
afterAll(() => authority.close());

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** The doctor's finding about a relay with this scheme in SMTP_URL. */
async function findingOf(scheme: 'smtp' | 'smtps', server: Server): Promise<Finding> {
  const port = await listenOnLoopback(server);
  const relay = new SmtpTransport(`${scheme}://127.0.0.1:${port}`, {
    tlsPolicy: 'verified',
    greetingTimeoutMs: SHORT_MS,
  });
  open.push(relay, server);
  return await relayChecks([relay])[0]!.run();
}

describe('The doctor, about a relay whose TLS does not match SMTP_URL', () => {
  it('suggests smtp:// where the port does not begin with TLS', async () => {
    const plain = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .resume()
        .write('220 relay ESMTP\r\n'),
    );
    expect(await findingOf('smtps', plain)).toMatchObject({
      kind: 'fault',
      mend: expect.stringContaining('smtp:// instead of smtps://'),
    });
  });

  it('suggests smtps:// where no greeting comes, as at a port that waits for TLS', async () => {
    const { key, cert } = authority.issue({ names: ['IP:127.0.0.1'] });
    expect(await findingOf('smtp', createTlsServer({ key, cert }))).toMatchObject({
      kind: 'fault',
      mend: expect.stringContaining('smtps://'),
    });
  });

  it.each([
    ['that is self-signed', () => authority.selfSigned({ names: ['IP:127.0.0.1'] })],
    ['for another name', () => authority.selfSigned({ names: ['DNS:other.example'] })],
  ])('reports the certificate if it is one %s', async (_which, make) => {
    const { key, cert } = make();
    expect(await findingOf('smtps', createTlsServer({ key, cert }))).toMatchObject({
      kind: 'fault',
      mend: expect.stringMatching(/^see the certificate of the relay/),
    });
  });

  it('requests a newer TLS where the relay supports no secure version', async () => {
    const { key, cert } = authority.issue({ names: ['IP:127.0.0.1'] });
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(await findingOf('smtps', createTlsServer({ key, cert, ...old }))).toMatchObject({
      kind: 'fault',
      mend: expect.stringContaining('TLS 1.2'),
    });
  });
});

it.each([
  ['does not reply to STARTTLS', ''],
  ['stalls in the TLS handshake', '220 go ahead\r\n'],
])('The doctor says why a relay takes emails in clear if it %s', async (_what, reply) => {
  const replies: Record<string, string> = {
    EHLO: '250-relay\r\n250 STARTTLS\r\n',
    STAR: reply,
    QUIT: '221 bye\r\n',
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined).write('220 relay ESMTP\r\n');
    socket.on('data', (data) => socket.write(replies[data.toString('latin1', 0, 4)] ?? ''));
  });
  const relay = new SmtpTransport(`smtp://127.0.0.1:${await listenOnLoopback(server)}`, {
    connectionTimeoutMs: SHORT_MS,
    commandTimeoutMs: SHORT_MS,
  });
  open.push(relay, server);
  expect(await relayChecks([relay])[0]!.run()).toMatchObject({
    kind: 'advice',
    found: expect.stringMatching(
      /^it accepts mail from us in clear, because the STARTTLS that it offers fails: starttls: no \w+ within 2000 ms$/,
    ),
  });
});

it('The doctor says so if SMTP_URL has no login, because such a relay may refuse every recipient', async () => {
  const server = await ScriptedSmtpServer.start(undefined, { extensions: ['AUTH PLAIN'] });
  const relay = new SmtpTransport(server.url);
  open.push(relay, server);
  const finding = { kind: 'good', found: 'it accepts mail from us in clear, without a login' };
  expect(await relayChecks([relay])[0]!.run()).toMatchObject(finding);
});

it('The doctor says at which stage a relay stalls, even if it does so at both of its addresses', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  silent.listen(0, '0.0.0.0');
  await once(silent, 'listening');
  const relay = new SmtpTransport(`smtp://relay.example:${(silent.address() as AddressInfo).port}`, {
    greetingTimeoutMs: 250,
    lookUp: () => Promise.resolve(['127.0.0.1', '127.0.0.2']),
  });
  open.push(relay, silent);
  const check = relayChecks([relay])[0]!;
  expect(await check.run()).toMatchObject({
    found: 'it does not accept mail from us: greeting: no answer within 250 ms',
  });
  // The doctor gives each address 10 s.
  expect(check.withinMs).toBeGreaterThan(4 * 10_000);
});

describe('The doctor, about a relay that offers only login methods that we do not support', () => {
  it('blames neither user nor password', async () => {
    const server = await ScriptedSmtpServer.start(undefined, { extensions: ['AUTH XOAUTH2'] });
    const relay = new SmtpTransport(server.url.replace('//', '//joe:hunter2@'));
    open.push(relay, server);
    expect(await relayChecks([relay])[0]!.run()).toMatchObject({
      kind: 'fault',
      found: expect.stringContaining('offers only XOAUTH2'),
      mend: expect.stringMatching(/^ask the operator of the relay for a login by PLAIN or LOGIN/),
    });
  });
});

describe('The doctor, about a relay that cannot check logins at the moment', () => {
  it('blames neither user nor password', async () => {
    const server = await ScriptedSmtpServer.start(
      answerAt('auth', { reply: '454 4.7.0 Too many login attempts' }),
      { extensions: ['AUTH PLAIN'] },
    );
    const relay = new SmtpTransport(server.url.replace('//', '//joe:hunter2@'));
    open.push(relay, server);
    expect(await relayChecks([relay])[0]!.run()).toMatchObject({
      kind: 'fault',
      found: expect.stringContaining('auth: 454'),
      mend: expect.stringMatching(/^wait: the relay accepts no logins at the moment/),
    });
  });
});

it('The doctor blames the settings of the access tokens, when there is none to log in with', async () => {
  const tokens = await TokenServer.start(() => ({ status: 401, body: { error: 'invalid_client' } }));
  const tokenUrl = tokens.url;
  const relay = new SmtpTransport('smtp://joe@relay.example', {
    accessTokens: new AccessTokens({ tokenUrl, clientId: 'posthorn', clientSecret: 'hunter2' }),
  });
  open.push(relay, tokens);
  expect(await relayChecks([relay])[0]!.run()).toMatchObject({
    kind: 'fault',
    found: `it does not accept mail from us: auth: no access token from ${new URL(tokenUrl).host}: invalid_client`,
    mend: expect.stringMatching(/^correct SMTP_OAUTH_TOKEN_URL/),
  });
});

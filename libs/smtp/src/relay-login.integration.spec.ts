import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Transmission } from '@posthorn/domain';
import { answerAt, type SmtpSink, type SmtpSinkOptions, TestAuthority, TokenServer } from '@posthorn/testing';
import { AccessTokens } from './access-tokens.ts';
import { ENVELOPE, MESSAGE, open, scripted, sinkWith, transportTo, withLogin } from './relays.fixture.ts';
import { SmtpTransport, type SmtpTransportOptions } from './smtp-transport.ts';

const USER = 'mailer@example.com';

let authority: TestAuthority;
beforeAll(() => {
  authority = TestAuthority.create();
});
afterAll(() => authority.close());

let server: TokenServer;
let nowMs: number;
let tokens: AccessTokens;
beforeEach(async () => {
  server = await TokenServer.start();
  open.push(server);
  nowMs = 0;
  const options = { tokenUrl: server.url, clientId: 'posthorn', clientSecret: 'hunter2', scope: 'smtp' };
  tokens = new AccessTokens(options, undefined, () => nowMs);
});

function relay(auth: SmtpSinkOptions['auth'], options: SmtpSinkOptions = {}): Promise<SmtpSink> {
  const starttls = authority.issue({ names: ['IP:127.0.0.1'] });
  return sinkWith({ starttls, auth: auth!, ...options });
}

function transportWithTokensTo({ url }: SmtpSink, options: SmtpTransportOptions = {}): SmtpTransport {
  return transportTo(url.replace('//', `//${encodeURIComponent(USER)}@`), {
    accessTokens: tokens,
    tls: { ca: authority.certificate },
    // Each message logs in anew.
    maxMessagesPerConnection: 1,
    ...options,
  });
}

const send = (transport: SmtpTransport): Promise<Transmission> => transport.send(ENVELOPE, MESSAGE);

describe('A relay whose URL names a user without a password', () => {
  it('is logged in to with an access token, which is requested once for all connections', async () => {
    const logins: unknown[] = [];
    const sink = await relay((token, user) => logins.push([token, user]) > 0);
    const transport = transportWithTokensTo(sink);
    const sent = await Promise.all(Array.from({ length: 5 }, () => send(transport)));
    expect(sent.map(({ kind }) => kind)).toEqual(Array(5).fill('accepted'));
    expect(logins).toEqual(Array(5).fill(['token-1', USER]));
    expect(server.requests.map((form) => Object.fromEntries(form))).toEqual([
      { grant_type: 'client_credentials', scope: 'smtp', client_id: 'posthorn', client_secret: 'hunter2' },
    ]);
    expect(await transport.greet()).toMatchObject({ kind: 'welcome', isSecured: true, login: 'taken' });
  });

  it('cannot be used without a source of access tokens', () => {
    expect(() => new SmtpTransport('smtp://joe@relay.example')).toThrow('SMTP_OAUTH_TOKEN_URL');
  });

  it.each(['opportunistic', 'required', 'verified'] as const)(
    'gets no token without TLS, under %s',
    async (tlsPolicy) => {
      const sink = await relay(() => true, { starttls: false });
      expect(await send(transportWithTokensTo(sink, { tlsPolicy }))).toMatchObject({ stage: 'starttls' });
      expect(sink.count).toBe(0);
    },
  );

  it('gets no token if its certificate is invalid', async () => {
    const logins: string[] = [];
    const starttls = authority.issue({ names: ['DNS:other.example'] });
    const sink = await relay((token) => logins.push(token) > 0, { starttls });
    expect(await send(transportWithTokensTo(sink))).toMatchObject({ kind: 'broken', stage: 'starttls' });
    expect(logins).toEqual([]);
  });

  it('is told which login is missing, if it does not offer XOAUTH2', async () => {
    const sink = await relay(true);
    expect(await send(transportWithTokensTo(sink))).toMatchObject({
      kind: 'refused',
      stage: 'auth',
      reply: {
        text: expect.stringMatching(/^Posthorn: logs in by XOAUTH2, and the relay offers only .*PLAIN/),
      },
    });
  });
});

describe('An access token', () => {
  it('as long as those of Microsoft is sent too', async () => {
    const access_token = 'a'.repeat(2_000);
    server.script = () => ({ body: { access_token, token_type: 'Bearer' } });
    const sink = await relay((token) => token === access_token);
    expect(await send(transportWithTokensTo(sink))).toMatchObject({ kind: 'accepted' });
  });

  it.each([
    ['by a challenge, as Google does', undefined],
    ['at once, as Microsoft does', '535 5.7.3 Authentication unsuccessful'],
  ])(
    'that was revoked, so that the relay refuses it %s, is replaced, and the message is sent',
    async (_how, reply) => {
      let valid = 'token-1';
      let given = '';
      const sink = await relay((token) => (given = token) === valid);
      const transport = transportWithTokensTo(sink);
      if (reply !== undefined)
        sink.script = (stage) => (stage === 'auth' && given !== valid ? { reply } : undefined);
      expect(await send(transport)).toMatchObject({ kind: 'accepted' });
      valid = 'token-2';
      nowMs += 10 * 60_000;
      expect(await send(transport)).toMatchObject({ kind: 'accepted' });
      expect(server.requests).toHaveLength(2);
    },
  );

  it('that is refused although it is new is not replaced at each attempt, and is in no text', async () => {
    const sink = await relay(() => true);
    const sasl = Buffer.from(`user=${USER}\x01auth=Bearer token-1\x01\x01`).toString('base64');
    const reply = `535 5.7.8 no: token-1 ${USER} ${sasl}`;
    sink.script = answerAt('auth', { reply });
    const transport = transportWithTokensTo(sink);
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect(await send(transport)).toEqual({
        kind: 'refused',
        stage: 'auth',
        reply: { code: 535, enhancedCode: '5.7.8', text: 'no: *** *** ***' },
      });
    expect(server.requests).toHaveLength(1);
  });

  it('that is not accepted just now (454) is kept', async () => {
    const sink = await relay(() => true);
    sink.script = answerAt('auth', { reply: '454 4.7.0 Temporary authentication failure' });
    nowMs += 10 * 60_000;
    const transport = transportWithTokensTo(sink);
    expect(await send(transport)).toMatchObject({ kind: 'refused', stage: 'auth', reply: { code: 454 } });
    nowMs += 10 * 60_000;
    expect(await send(transport)).toMatchObject({ kind: 'refused', stage: 'auth', reply: { code: 454 } });
    expect(server.requests).toHaveLength(1);
  });

  it('that cannot be had is a fault of the relay, with the reason, and the relay is not connected to', async () => {
    server.script = () => ({
      status: 401,
      body: { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret hunter2' },
    });
    const sink = await relay(() => true);
    expect(await send(transportWithTokensTo(sink))).toEqual({
      kind: 'broken',
      stage: 'auth',
      error: `no access token from ${new URL(server.url).host}: invalid_client, AADSTS7000215: Invalid client secret ***`,
    });
    expect(sink.connections.total).toBe(0);
  });
});

describe('A relay that offers XOAUTH2 among others', () => {
  it('is logged in to with the password, if the URL has one', async () => {
    const other = await scripted(undefined, ['AUTH XOAUTH2 PLAIN']);
    expect(await send(transportTo(withLogin(other)))).toMatchObject({ kind: 'accepted' });
    expect(other.commands).toContainEqual(expect.stringMatching(/^AUTH PLAIN /));
  });
});

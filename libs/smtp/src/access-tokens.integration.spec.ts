import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { freePort, TokenServer, type TokenAnswer } from '@posthorn/testing';
import { AccessTokens, type TokenOptions } from './access-tokens.ts';

const HOUR_MS = 3_600_000;

let server: TokenServer;
let nowMs: number;
let failures: [reason: string, secondsLeft: number][];
beforeEach(async () => {
  server = await TokenServer.start();
  nowMs = 1_000_000;
  failures = [];
});
afterEach(() => server.close());

function tokensFrom(options: Partial<TokenOptions> = {}): AccessTokens {
  const given = { tokenUrl: server.url, clientId: 'posthorn', clientSecret: 'hunter2', ...options };
  return new AccessTokens(
    given,
    (...failure) => failures.push(failure),
    () => nowMs,
  );
}

const bearer = (body: object): TokenAnswer => ({ body: { token_type: 'Bearer', ...body } });

describe('Access tokens', () => {
  it('are renewed after four fifths of their lifetime', async () => {
    const tokens = tokensFrom();
    expect(await tokens.get()).toBe('token-1');
    nowMs += 0.79 * HOUR_MS;
    expect(await tokens.get()).toBe('token-1');
    nowMs += 0.02 * HOUR_MS;
    expect(await Promise.all([tokens.get(), tokens.get()])).toEqual(['token-2', 'token-2']);
  });

  it('are renewed when they have expired while this machine slept', async () => {
    const tokens = new AccessTokens({ tokenUrl: server.url, clientId: 'posthorn' });
    expect(await tokens.get()).toBe('token-1');
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + HOUR_MS);
    expect(await tokens.get()).toBe('token-2');
    jest.restoreAllMocks();
  });

  it('are taken for valid for an hour when the answer does not say how long they are', async () => {
    server.script = (_form, number) => bearer({ access_token: `token-${number}` });
    const tokens = tokensFrom();
    await tokens.get();
    nowMs += 0.79 * HOUR_MS;
    expect(await tokens.get()).toBe('token-1');
    nowMs += 0.02 * HOUR_MS;
    expect(await tokens.get()).toBe('token-2');
  });

  it('serve to their end while they cannot be renewed, which is tried twice a minute', async () => {
    const tokens = tokensFrom();
    await tokens.get();
    server.script = () => ({ status: 503, body: {} });
    nowMs += 0.85 * HOUR_MS;
    for (let at = 0; at < 60_000; at += 5_000, nowMs += 5_000)
      expect(await Promise.all([tokens.get(), tokens.get()])).toEqual(['token-1', 'token-1']);
    expect(server.requests).toHaveLength(1 + 2);
    expect(failures).toEqual([
      [expect.stringContaining('no access token from 127.0.0.1'), 540],
      [expect.stringContaining('503'), 510],
    ]);
    nowMs += 0.15 * HOUR_MS;
    await expect(tokens.get()).rejects.toThrow('no access token from 127.0.0.1');
  });

  it('are requested with the refresh token, and then with the one that replaces it', async () => {
    server.script = (_form, number) =>
      bearer({
        access_token: `token-${number}`,
        expires_in: 60,
        ...(number === 2 && { refresh_token: 'second' }),
      });
    const tokens = tokensFrom({ clientSecret: undefined, refreshToken: 'first', scope: 'mail offline' });
    for (let turn = 1; turn <= 3; turn += 1, nowMs += 60_000)
      expect(await tokens.get()).toBe(`token-${turn}`);
    expect(server.requests.map((form) => Object.fromEntries(form))).toEqual(
      ['first', 'first', 'second'].map((refresh_token) => ({
        grant_type: 'refresh_token',
        client_id: 'posthorn',
        scope: 'mail offline',
        refresh_token,
      })),
    );
  });

  it('are requested again after a failure', async () => {
    const { script } = server;
    server.script = () => ({ status: 500, body: {} });
    const tokens = tokensFrom();
    await expect(tokens.get()).rejects.toThrow();
    server.script = script;
    expect(await tokens.get()).toBe('token-2');
  });
});

describe('A token endpoint', () => {
  it.each<[string, TokenAnswer, string]>([
    ['refuses the client', { status: 400, body: { error: 'invalid_client' } }, 'invalid_client'],
    [
      'repeats our secrets',
      { status: 400, body: { error: 'invalid_grant', error_description: 'hunter2\n first' } },
      'invalid_grant, *** ***',
    ],
    ['gives no token', { body: { token_type: 'Bearer' } }, 'access_token'],
    ['gives an empty token', bearer({ access_token: '' }), 'access_token'],
    ['gives a token that is none', bearer({ access_token: 'a\r\nb' }), 'not an access token'],
    ['gives an endless token', bearer({ access_token: 'a'.repeat(100_000) }), 'not an access token'],
    ['gives a token of another kind', { body: { access_token: 'a', token_type: 'mac' } }, 'token_type'],
    ['gives an impossible lifetime', bearer({ access_token: 'a', expires_in: -1 }), 'expires_in'],
    ['answers with too much', { body: 'a'.repeat(2_000_000) }, 'longer than'],
    ['redirects', { status: 302, body: {} }, '302'],
    ['is out of order', { status: 502, body: 'Bad Gateway' }, '502'],
  ])('that %s gives a clear error without secrets', async (_what, answer, reason) => {
    server.script = () => answer;
    const error: Error = await tokensFrom({ refreshToken: 'first' })
      .get()
      .then(
        () => new Error('it gave a token'),
        (caught: Error) => caught,
      );
    expect(error.message).toMatch(/^no access token from 127\.0\.0\.1:\d+: /);
    expect(error.message).toContain(reason);
    expect(error.message).not.toMatch(/hunter2|first/);
    expect(error.cause).toBeUndefined();
  });

  it('that cannot be reached gives the reason', async () => {
    const port = await freePort();
    await expect(tokensFrom({ tokenUrl: `http://127.0.0.1:${port}/` }).get()).rejects.toThrow(
      `no access token from 127.0.0.1:${port}: connect ECONNREFUSED`,
    );
  });
});

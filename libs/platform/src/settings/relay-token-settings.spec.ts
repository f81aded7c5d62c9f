import { describe, expect, it } from '@jest/globals';
import { readSettings } from './read-settings.ts';
import { RelayTokenSettings } from './relay-token-settings.ts';

const SOUND = {
  SMTP_OAUTH_TOKEN_URL: 'https://login.example.com/token',
  SMTP_OAUTH_CLIENT_ID: 'posthorn',
  SMTP_OAUTH_CLIENT_SECRET: 'hunter2',
};
const read = (env: Record<string, string>): RelayTokenSettings =>
  readSettings({ tokens: RelayTokenSettings }, env).tokens;

describe('Access tokens for relays', () => {
  it('are not used by default', () => {
    expect(read({}).options).toBeUndefined();
  });

  it.each([
    ['as the client', SOUND, { clientSecret: 'hunter2', refreshToken: undefined, scope: undefined }],
    [
      'with a refresh token',
      { ...SOUND, SMTP_OAUTH_CLIENT_SECRET: '', SMTP_OAUTH_REFRESH_TOKEN: '1//0a', SMTP_OAUTH_SCOPE: 'a b' },
      { clientSecret: undefined, refreshToken: '1//0a', scope: 'a b' },
    ],
    [
      'from a token endpoint on this machine',
      { ...SOUND, SMTP_OAUTH_TOKEN_URL: 'http://127.0.0.1:8080/token' },
      { tokenUrl: 'http://127.0.0.1:8080/token' },
    ],
  ])('are requested %s', (_how, env, options) => {
    expect(read(env).options).toMatchObject({ clientId: 'posthorn', ...options });
  });

  it.each<[string, Record<string, string>]>([
    ['SMTP_OAUTH_TOKEN_URL is "login.example.com"', { ...SOUND, SMTP_OAUTH_TOKEN_URL: 'login.example.com' }],
    ['a token endpoint on this machine may', { ...SOUND, SMTP_OAUTH_TOKEN_URL: 'http://login.example.com' }],
    ['SMTP_OAUTH_CLIENT_ID is not set', { ...SOUND, SMTP_OAUTH_CLIENT_ID: '' }],
    ['no token could be requested', { ...SOUND, SMTP_OAUTH_CLIENT_SECRET: '' }],
    ['SMTP_OAUTH_SCOPE', { ...SOUND, SMTP_OAUTH_SCOPE: 'a\nb' }],
    ['SMTP_OAUTH_CLIENT_SECRET has a value that', { ...SOUND, SMTP_OAUTH_CLIENT_SECRET: 'hunter2\u00e9' }],
    ['SMTP_OAUTH_REFRESH_TOKEN has a value that', { ...SOUND, SMTP_OAUTH_REFRESH_TOKEN: 'hunter2\n' }],
  ])('are refused because %s', (fault, env) => {
    expect(() => read(env)).toThrow(fault);
    expect(() => read(env)).not.toThrow('hunter2');
  });
});

import { describe, expect, it } from '@jest/globals';
import { ProviderSettings } from './provider-settings.ts';
import { readSettings } from './read-settings.ts';

const SOUND = {
  OIDC_ISSUER: 'https://login.example.com',
  OIDC_CLIENT_ID: 'posthorn',
  OIDC_VIEWER_VALUES: 'a, b',
};
const read = (env: Record<string, string>): ProviderSettings =>
  readSettings({ provider: ProviderSettings }, env).provider;

describe('An identity provider', () => {
  it('is not used by default', () => {
    expect(read({}).options).toBeUndefined();
  });

  it('maps the listed values to roles', () => {
    const { options } = read({
      ...SOUND,
      OIDC_OPERATOR_VALUES: 'leads,admins',
      OIDC_VIEWER_VALUES: 'staff, first line',
    });
    expect(options).toMatchObject({
      scopes: 'openid profile',
      roles: { operator: ['leads', 'admins'], viewer: ['staff', 'first line'] },
    });
  });

  it.each<[string, Record<string, string>]>([
    ['OIDC_ISSUER is "login.example.com"', { ...SOUND, OIDC_ISSUER: 'login.example.com' }],
    ['OIDC_CLIENT_ID is not set', { ...SOUND, OIDC_CLIENT_ID: '' }],
    ['nobody would have a role', { ...SOUND, OIDC_VIEWER_VALUES: '' }],
    ['nobody could sign in', { PASSWORD_SIGN_IN: 'false' }],
    [
      'only a provider on this machine may',
      { ...SOUND, OIDC_VIEWER_VALUES: 'a', OIDC_ISSUER: 'http://login.example.com' },
    ],
    ['OIDC_SCOPES', { ...SOUND, OIDC_SCOPES: 'profile' }],
    ['OIDC_VIEWER_VALUES', { ...SOUND, OIDC_VIEWER_VALUES: 'a,,b' }],
    ['OIDC_CLIENT_SECRET has a value that is not allowed', { ...SOUND, OIDC_CLIENT_SECRET: 'hunter2\u00e9' }],
  ])('is refused because %s', (fault, env) => {
    expect(() => read(env)).toThrow(fault);
    expect(() => read(env)).not.toThrow('hunter2');
  });
});

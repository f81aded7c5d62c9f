import { describe, expect, it } from '@jest/globals';
import { signInUrl, redirectTarget } from './redirect-target.ts';

describe('redirectTarget', () => {
  it.each(['/', '/emails', '/emails?to=ada%40receiver.example&status=SENT', '/queues/queue/email-turns'])(
    'allows %s',
    (path) => {
      expect(redirectTarget(path)).toBe(path);
    },
  );

  it.each([
    undefined,
    ['/emails'],
    '',
    'emails',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/%2e//evil.example',
    'javascript:alert(1)',
    '/sign-in',
    '/sign-in?to=/emails',
    '/sign-in/provider',
    '/sign-out',
    `/${'x'.repeat(2_000)}`,
  ])('gives the overview in place of %j', (wanted) => {
    expect(redirectTarget(wanted)).toBe('/');
  });

  it('escapes line breaks', () => {
    expect(redirectTarget('/emails?to=\r\nSet-Cookie: a=b')).toBe('/emails?to=Set-Cookie:%20a=b');
  });

  it('is in the URL of the sign-in page where it is not the overview', () => {
    expect([signInUrl('/sign-in', '/'), signInUrl('/sign-in', '/emails?to=a&status=SENT')]).toEqual([
      '/sign-in',
      '/sign-in?to=%2Femails%3Fto%3Da%26status%3DSENT',
    ]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { signInAt, wayBack } from './way-back.ts';

describe('The way back after signing in', () => {
  it.each(['/', '/emails', '/emails?to=ada%40receiver.example&status=SENT', '/queues/queue/email-turns'])(
    'leads to %s',
    (path) => {
      expect(wayBack(path)).toBe(path);
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
  ])('leads to the overview in place of %j', (wanted) => {
    expect(wayBack(wanted)).toBe('/');
  });

  it('breaks no header', () => {
    expect(wayBack('/emails?to=\r\nSet-Cookie: a=b')).toBe('/emails?to=Set-Cookie:%20a=b');
  });

  it('is said where it is not the overview', () => {
    expect([signInAt('/sign-in', '/'), signInAt('/sign-in', '/emails?to=a&status=SENT')]).toEqual([
      '/sign-in',
      '/sign-in?to=%2Femails%3Fto%3Da%26status%3DSENT',
    ]);
  });
});

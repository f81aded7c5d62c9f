import { describe, expect, it } from '@jest/globals';
import { mailboxTokens, wireAddress } from './mailboxes.ts';
import { UncomposableMessage } from './uncomposable-message.ts';

const shown = (name: string): string => mailboxTokens('To', { address: 'a@example.com', name }, 4).join(' ');

describe('wireAddress', () => {
  it('converts an international domain to punycode, and leaves the local part unchanged', () => {
    expect(wireAddress('jörg@bücher.example')).toBe('jörg@xn--bcher-kva.example');
    expect(wireAddress('Some.One+tag@Example.COM')).toBe('Some.One+tag@Example.COM');
  });

  it('accepts quoted local parts and address literals', () => {
    expect(wireAddress('"a b, c"@example.com')).toBe('"a b, c"@example.com');
    expect(wireAddress('a@[192.0.2.1]')).toBe('a@[192.0.2.1]');
  });

  it.each([
    '',
    'a',
    'abc',
    '@example.com',
    'a@',
    'a b@example.com',
    'a@b c',
    'a,b@example.com',
    '<a@example.com>',
    'a@b@c.example',
    'a@example.com>',
    'a@example.com, b@example.com',
    '"a"b"@example.com',
    'a@exa／mple.com',
    `${'a'.repeat(600)}@b.c`,
    `${'ö'.repeat(300)}@b.c`,
  ])('refuses %j', (address) => {
    expect(() => wireAddress(address)).toThrow(UncomposableMessage);
  });
});

describe('mailboxTokens', () => {
  it.each([
    ['Ann', 'Ann <a@example.com>'],
    ['Ann Lee', 'Ann Lee <a@example.com>'],
    ['Lee, Ann', '"Lee, Ann" <a@example.com>'],
    ['Ann "The \\" Lee', '"Ann \\"The \\\\\\" Lee" <a@example.com>'],
    ['b@example.com', '"b@example.com" <a@example.com>'],
    ['Jörg', '=?UTF-8?B?SsO2cmc=?= <a@example.com>'],
    ['=?UTF-8?Q?x?=', '=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?= <a@example.com>'],
    ['a  b', '"a  b" <a@example.com>'],
    ['x'.repeat(64), `${'x'.repeat(64)} <a@example.com>`],
    ['x'.repeat(65), `=?UTF-8?Q?${'x'.repeat(60)}?= =?UTF-8?Q?xxxxx?= <a@example.com>`],
    ['', 'a@example.com'],
    ['  ', 'a@example.com'],
  ])('writes the name %j as %s', (name, expected) => {
    expect(shown(name)).toBe(expected);
  });
});

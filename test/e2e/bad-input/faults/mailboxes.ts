import { type Fault, NON_STRINGS, texts } from '../cases.ts';

/** Strings that no field for a mailbox accepts, one for each way to be wrong; the tests of `parseMailbox` have the others. */
export const INVALID_MAILBOXES: readonly Fault[] = [
  ...texts(
    '',
    ' ',
    'a',
    'a@',
    '@example.com',
    'a@localhost',
    'a@127.0.0.1',
    'a..b@example.com',
    'a@xn--a.com',
  ),
  ...texts(
    'a@example.com, b@example.com',
    'Team: a@example.com;',
    'a@example.com (comment)',
    'a b@example.com',
  ),
  ...texts(
    'A <a@example.com',
    '"a b"@example.com',
    '<@a.example:c@d.example>',
    '=?utf-8?q?A?= <a@example.com>',
  ),
  ...texts('a@example.com\r\nBcc: b@example.com', 'A\x07 <a@example.com>', '\u202ea@example.com'),
  ...texts(`${'a'.repeat(65)}@example.com`, `${'N'.repeat(256)} <a@example.com>`, 'x'.repeat(5_000)),
  ...NON_STRINGS,
];

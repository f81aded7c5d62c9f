import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mailboxText, parseMailbox } from './mailbox.ts';
import { parseMailDomain } from './mail-domain.ts';

describe('parseMailbox', () => {
  it('is idempotent', () => {
    const domain = fc.domain();
    const local = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+/=?^_`{|}~äöü-]{1,20}(\.[a-z]{1,10}){0,2}$/);
    fc.assert(
      fc.property(local, domain, (user, host) => {
        const parsed = parseMailbox(`${user}@${host}`);
        if ('fault' in parsed) return; // an encoded word, say, or punycode of nothing
        expect(parseMailbox(parsed.mailbox.address)).toEqual(parsed);
        expect(parseMailbox(`Ada <${parsed.mailbox.address}>`)).toEqual({
          mailbox: { ...parsed.mailbox, name: 'Ada' },
        });
      }),
    );
  });

  it('gives the same result on the fast path as on the full one', () => {
    const local = fc.stringMatching(/^[a-z.!=?+-]{1,5}$/);
    const domain = fc.stringMatching(/^[A-Za-z0-9.-]{1,9}$/);
    fc.assert(
      fc.property(local, domain, (user, host) => {
        // Longer than the searched prefix; the rest is valid in every local part.
        const long = `${'x'.repeat(50)}${user}@${'y'.repeat(12)}.${host}`;
        const short = `x${user}@y.${host}`;
        expect('mailbox' in parseMailbox(short)).toBe('mailbox' in parseMailbox(long));
        const parsed = parseMailDomain(`y.${host}`);
        if ('mailbox' in parseMailbox(short))
          expect(parseMailbox(short)).toEqual({
            mailbox: { address: `x${user}@${(parsed as { domain: string }).domain}` },
          });
      }),
      { numRuns: 2_000 },
    );
  });

  it('never returns an address or a name that could end a header line or add a recipient', () => {
    const hostile = fc.constantFrom(
      '@',
      '.',
      ',',
      ';',
      ':',
      '<',
      '>',
      '"',
      '\\',
      '(',
      ')',
      ' ',
      '\r\n',
      '\0',
      '\u202e',
      '=?u?q?a?=',
      'a',
      'co',
      'ü',
    );
    fc.assert(
      fc.property(fc.array(hostile, { maxLength: 14 }), (pieces) => {
        const parsed = parseMailbox(pieces.join(''));
        if ('fault' in parsed) return;
        expect(parsed.mailbox.address).toMatch(/^[^\s@,;:<>"\\()]+@[a-z0-9.-]+$/);
        expect(parsed.mailbox.name ?? '').not.toMatch(/[\p{Cc}\u202e]/u);
      }),
      { numRuns: 2_000 },
    );
  });

  it('parses the longest permitted text, in any form, within milliseconds', () => {
    const before = process.threadCpuUsage();
    for (const piece of ['(', '"\\', '<', 'a@', ' ', '=?', '.', '\\"', '@:', 'a,'])
      parseMailbox(piece.repeat(500));
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(200);
  });

  it('reads back what mailboxText writes', () => {
    const name = fc.string({
      unit: fc.constantFrom('a', 'é', ' ', ',', '"', '\\', '<', '>', '@', '(', '.'),
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(name, (wanted) => {
        const parsed = parseMailbox(mailboxText({ address: 'ada@example.com', name: wanted }));
        if ('fault' in parsed) return expect(wanted.trim()).toBe('');
        expect(parsed.mailbox.name).toBe(wanted);
      }),
    );
    expect(mailboxText({ address: 'ada@example.com' })).toBe('ada@example.com');
    expect(mailboxText({ address: 'ada@example.com', name: 'Ada Lovelace' })).toBe(
      'Ada Lovelace <ada@example.com>',
    );
  });
});

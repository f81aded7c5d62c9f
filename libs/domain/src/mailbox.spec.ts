import { describe, expect, it } from '@jest/globals';
import { addressKey, domainOf, parseMailbox } from './mailbox.ts';

function faultOf(text: string): string {
  const parsed = parseMailbox(text);
  return 'fault' in parsed ? parsed.fault : `taken as ${JSON.stringify(parsed.mailbox)}`;
}

const label63 = 'a'.repeat(63);
/** An address of 250 octets without its local part. */
const longDomain = `@${label63}.${label63}.${label63}.${'b'.repeat(54)}.co`;

describe('S4: parseMailbox', () => {
  it.each([
    ['a@b.co', { address: 'a@b.co' }],
    ['  a@b.co ', { address: 'a@b.co' }],
    ['<a@b.co>', { address: 'a@b.co' }],
    ['Ada <a@b.co>', { address: 'a@b.co', name: 'Ada' }],
    ['Ada<a@b.co>', { address: 'a@b.co', name: 'Ada' }],
    ['Dr. Ada King-Noël <a@b.co>', { address: 'a@b.co', name: 'Dr. Ada King-Noël' }],
    ['"Lovelace, Ada" <a@b.co>', { address: 'a@b.co', name: 'Lovelace, Ada' }],
    ['"Ada \\"Countess\\" \\\\ L" <a@b.co>', { address: 'a@b.co', name: 'Ada "Countess" \\ L' }],
    ['"a@b.co" <a@b.co>', { address: 'a@b.co', name: 'a@b.co' }],
    ['"" <a@b.co>', { address: 'a@b.co' }],
    ['"Ada"<a@b.co>', { address: 'a@b.co', name: 'Ada' }],
    ['愛 <a@b.co>', { address: 'a@b.co', name: '愛' }],
    ['👩‍💻 ❤️ <a@b.co>', { address: 'a@b.co', name: '👩‍💻 ❤️' }],
    ['علی‌رضا <a@b.co>', { address: 'a@b.co', name: 'علی‌رضا' }],
    ['Ada@EXAMPLE.Com', { address: 'Ada@example.com' }],
    ["o'hara+tag/x=y!#$%&*?^_`{|}~@b.co", { address: "o'hara+tag/x=y!#$%&*?^_`{|}~@b.co" }],
    ['grün@b.co', { address: 'grün@b.co' }],
    ['jose\u0301@b.co', { address: 'jos\u00e9@b.co' }],
    ['用户@例え.jp', { address: '用户@xn--r8jz45g.jp' }],
    ['a@MÜNCHEN.de', { address: 'a@xn--mnchen-3ya.de' }],
    ['a@xn--mnchen-3ya.de', { address: 'a@xn--mnchen-3ya.de' }],
    ['a@faß.de', { address: 'a@xn--fa-hia.de' }],
    ['a@münchen。de', { address: 'a@xn--mnchen-3ya.de' }],
    ['a@1and1.com', { address: 'a@1and1.com' }],
    [`${'l'.repeat(64)}@b.co`, { address: `${'l'.repeat(64)}@b.co` }],
    [`a@${label63}.co`, { address: `a@${label63}.co` }],
    [`1234${longDomain}`, { address: `1234${longDomain}` }],
    ['a@b.1.c0', { address: 'a@b.1.c0' }],
    ['a@b.0c', { address: 'a@b.0c' }],
  ])('parses %j', (text, mailbox) => {
    expect(parseMailbox(text)).toEqual({ mailbox });
  });

  it.each([
    ['', /is empty/],
    ['   ', /is empty/],
    ['a', /no `@`/],
    ['Ada', /no `@`/],
    ['@b.co', /nothing before the `@`; give one mailbox/],
    ['a@', /no domain after the `@`; give the full domain/],
    ['a.@b.co', /a dot at the beginning or end, .*; remove it$/],
    ['a@b.co.', /ends with a dot or has two in a row; give the full domain/],
    ['@', /nothing before/],
    ['a@b@c.co', /more than one `@`/],
    ['a b@c.co', /a space/],
    ['a@b c.co', /a space/],
    ['a\u00a0b@c.co', /a space/],
    ['a@b.co, c@d.co', /more than one mailbox/],
    ['a@b.co,c@d.co', /more than one mailbox/],
    ['a@b.co;c@d.co', /group or a list/],
    ['a@b.co c@d.co', /more than one `@`/],
    ['A <a@b.co>, C <c@d.co>', /more than one mailbox/],
    ['"A" <a@b.co>, "C" <c@d.co>', /more than one mailbox|not a name and an address/],
    ['a@b.co, C <c@d.co>', /more than one mailbox/],
    ['A <a@b.co,c@d.co>', /more than one mailbox/],
    ['Team: a@b.co, c@d.co;', /group/],
    ['Team:;', /group/],
    ['undisclosed-recipients:;', /group/],
    ['Team: A <a@b.co>;', /./],
    ['a@b.co (Ada)', /comment/],
    ['(Ada) a@b.co', /comment/],
    ['a(x)@b.co', /comment/],
    ['Ada (x) <a@b.co>', /^has `\(` in its name; put the name in double quotes/],
    ['<@relay.co:a@b.co>', /source route/],
    ['@relay.co,@two.co:a@b.co', /source route/],
    ['a@b.co>', /angle bracket/],
    ['<a@b.co', /angle brackets/],
    ['Ada <<a@b.co>>', /angle brackets/],
    ['Ada <a@b.co> x', /angle brackets/],
    [
      'Ada "Countess" Lovelace <a@b.co>',
      /^has `"` in its name; .*, as in `"Ada \\"Countess\\" Lovelace" <ada@example\.com>`$/,
    ],
    ['Ada 5" <a@b.co>', /^has `"` in its name/],
    ['"Ada" Lovelace <a@b.co>', /^has `"` in its name/],
    ['"Ada <a@b.co>', /^has `"` in its name/],
    ['Ada <>', /no address/],
    ['<>', /no address/],
    ['Ada < a@b.co >', /a space/],
    ['Lovelace, Ada <a@b.co>', /double quotes/],
    ['Ada; <a@b.co>', /double quotes/],
    ['a@b.co <c@d.co>', /double quotes/],
    ['Ada \\ <a@b.co>', /double quotes/],
    ['Ada "x" <a@b.co>', /has `"` in its name/],
    ['"a b"@c.co', /quoted local part/],
    ['"a"@c.co', /quoted local part/],
    ['Ada <"a b"@c.co>', /quoted local part/],
    ['=?utf-8?q?Ada?= <a@b.co>', /encoded word/],
    ['=?utf-8?q?a?=@b.co', /encoded word/],
    ['.a@b.co', /dot/],
    ['a.@b.co', /dot/],
    ['a..b@b.co', /dot/],
    ['a\\b@b.co', /character before the `@`/],
    ['a\u3000b@c.co', /a space/],
    ['a\u0378@b.co', /character before the `@`/],
    [`${'l'.repeat(65)}@b.co`, /65 octets before/],
    [`${'ü'.repeat(33)}@b.co`, /66 octets before/],
    ['a@b', /no dot/],
    ['root@localhost', /no dot/],
    ['a@.co', /dot/],
    ['a@b.co.', /dot/],
    ['a@b..co', /dot/],
    ['a@-b.co', /hyphen/],
    ['a@b-.co', /hyphen/],
    ['a@b_c.co', /only letters/],
    ['a@b%63.co', /only letters/],
    ['a@b/c.co', /only letters/],
    ['a@b.co?x', /only letters/],
    ['a@[127.0.0.1]', /brackets/],
    ['a@[IPv6:::1]', /group|brackets/],
    ['a@127.0.0.1', /IP address/],
    ['a@b.42', /a number/],
    ['a@0x7f.1', /IP address/],
    ['a@١٢٧.٠.٠.١', /IP address|internationalised/],
    ['a@xn--a.co', /internationalised/],
    ['a@xn--zzzzzzzz.co', /internationalised/],
    [`a@${label63}a.co`, /64 octets/],
    [`12345${longDomain}`, /255 octets; at most 254/],
    [`a@${`${'b'.repeat(50)}.`.repeat(5)}co`, /octets; at most/],
    [`a@${'ü'.repeat(60)}.co`, /octets|internationalised/],
    ['x'.repeat(1_000_000), /1000000 characters/],
    [`${'x'.repeat(256)} <a@b.co>`, /256 characters/],
    [`${'😀'.repeat(256)} <a@b.co>`, /256 characters/],
  ])('refuses %j, and says how to fix it', (text, fault) => {
    expect(faultOf(text)).toMatch(fault);
    expect(faultOf(text)).toMatch(/; (?:give|put|remove|write|at most) /);
  });

  it('does not cut a character in half when it abbreviates a domain', () => {
    expect(faultOf(`a@${'b'.repeat(79)}😀.co`)).toContain(`\`${'b'.repeat(79)}…\``);
  });

  it.each([
    ...['\0', '\r', '\n', '\r\n', '\t', '\u0001', '\u001f', '\u007f', '\u0085', '\u009f'],
    ...['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'],
    ...['\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufeff', '\u00ad', '\u061c', '\u180e'],
    ...['\u2028', '\u2029', '\u{e0041}'],
  ])('refuses %j wherever it stands', (character) => {
    const before = [`${character}a@b.co`, `a${character}@b.co`, `a@b${character}.co`, `a@b.co${character}`];
    const named = [
      `Ad${character}a <a@b.co>`,
      `"Ad${character}a" <a@b.co>`,
      `Ada <a@b${character}.co>`,
      `${character}Ada <a@b.co>`,
    ];
    for (const text of [...before, ...named])
      expect([text, faultOf(text)]).toEqual([text, expect.stringMatching(/U\+/)]);
  });
});

describe('an address', () => {
  it.each([
    ['Ada@EXAMPLE.com', 'Ada@example.com'],
    ['ada@example.com', 'ada@example.com'],
    ['a@München.DE', 'a@xn--mnchen-3ya.de'],
  ])('is compared without regard to the case of its domain: %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
    expect(domainOf(address)).toBe(key.slice(key.indexOf('@') + 1));
  });

  it('keeps the case of its local part, which only the receiving side may ignore', () => {
    expect(addressKey('Ada@b.co')).not.toBe(addressKey('ada@b.co'));
  });
});

describe('parseMailbox of a text that is crafted to take long', () => {
  it.each([
    ['brackets and separators', '<' + '>'.repeat(333) + ';'.repeat(665), /not a name and an address/],
    ['at signs', '@'.repeat(900) + ' <a@b.co>', /has `@` in its name/],
    ['spaces', 'a' + ' '.repeat(998) + 'b', /no `@`/],
  ])('says at once what is wrong with %s', (_what, text, fault) => {
    // A batch may contain hundreds: with one backtracking expression it took over a minute.
    for (let n = 0; n < 1_000; n += 1) expect(faultOf(text)).toMatch(fault);
  });
});

import { describe, expect, it } from '@jest/globals';
import { faultInAddressText, faultInHeaderText, faultInVisibleText } from './invisible-characters.ts';

const CONTROLS = Array.from({ length: 0xa0 }, (_, code) => code).filter((code) => code < 0x20 || code > 0x7e);

describe('a text that becomes a header', () => {
  it.each(CONTROLS)('may not contain the control character %i', (code) => {
    const text = `ab${String.fromCharCode(code)}c`;
    for (const faultIn of [faultInHeaderText, faultInVisibleText, faultInAddressText]) {
      expect(faultIn(text)).toMatch(/^holds a .* \(U\+00[0-9A-F]{2}\) at character 3; remove it$/);
    }
  });

  it.each(['', 'Your order', 'Ваш заказ', 'שלום', '🎉 50 % off', 'a\u00a0b'])('may be %j', (text) => {
    expect([faultInHeaderText(text), faultInVisibleText(text), faultInAddressText(text)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('names a line break', () => {
    expect(faultInHeaderText('Hi\nBcc: x@y.co')).toBe(
      'holds a line break (U+000A) at character 3; remove it',
    );
  });
});

describe('a joiner', () => {
  it('is accepted between letters that need it, but not in an address', () => {
    expect(faultInVisibleText('علی‌رضا')).toBeUndefined();
    expect(faultInAddressText('علی‌رضا')).toMatch(/U\+200C/);
  });

  it('is refused between Latin letters', () => {
    expect(faultInVisibleText('pay\u200dpal')).toMatch(/U\+200D\) at character 4/);
  });
});

describe('a legitimate invisible character', () => {
  it.each([
    ['the flag of England', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} Three Lions'],
    ['joined emoji', 'Ada \u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u{1f441}\ufe0f\u200d\u{1f5e8}\ufe0f'],
    ['the form of an ideograph', '\u845b\u{e0100}\u57ce \u{2000b}\u{e0101}'],
    ['a mark behind punctuation of Hebrew', '\u05d0\u05d1\u05d2 \u05d1\u05e2"\u05de!\u200f (1984)\u200e'],
    ['a mark before digits in Arabic', '\u0645\u062a\u062c\u0631 \u061c24'],
  ])('may be in a name, and not in an address: %s', (_what, text) => {
    expect(faultInVisibleText(text)).toBeUndefined();
    expect(faultInAddressText(text)).toMatch(/^holds a character that cannot be seen/);
  });

  it.each([
    ['a mark without letters from right to left', 'Ada\u200e', 'U+200E) at character 4'],
    ['what turns a text around, also in Hebrew', '\u05d0\u202e\u05d1', 'U+202E) at character 2'],
    ['what isolates', '\u05d0\u2067\u05d1', 'U+2067) at character 2'],
    ['tags that are no flag', 'A\u{e0067}\u{e0062}\u{e007f}', 'U+E0067) at character 2'],
    ['a flag of more than a region', `\u{1f3f4}${'\u{e0067}'.repeat(7)}\u{e007f}`, 'U+E0067) at character 3'],
    ['a flag that does not end', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}', 'U+E0067) at character 3'],
    ['the form of a Latin letter', 'A\u{e0100}', 'U+E0100) at character 2'],
    [
      'what stands behind a flag',
      '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e007f}\u200b',
      'U+200B) at character 11',
    ],
  ])('may not be in a name elsewhere: %s', (_what, text, place) => {
    expect(faultInVisibleText(text)).toContain(place);
  });
});

import { describe, expect, it } from '@jest/globals';
import { faultInAddressText, faultInHeaderText, faultInVisibleText } from './invisible-characters.ts';

const CONTROLS = Array.from({ length: 0xa0 }, (_, code) => code).filter((code) => code < 0x20 || code > 0x7e);

describe('a text that becomes a header', () => {
  it.each(CONTROLS)('may not hold the control %i', (code) => {
    const text = `ab${String.fromCharCode(code)}c`;
    for (const faultIn of [faultInHeaderText, faultInVisibleText, faultInAddressText]) {
      expect(faultIn(text)).toMatch(/^holds a .* \(U\+00[0-9A-F]{2}\) at character 3; take it out$/);
    }
  });

  it.each(['', 'Your order', 'Ваш заказ', 'שלום', '🎉 50 % off', 'a\u00a0b'])('may be %j', (text) => {
    expect([faultInHeaderText(text), faultInVisibleText(text), faultInAddressText(text)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('names a line break as one', () => {
    expect(faultInHeaderText('Hi\nBcc: x@y.co')).toBe(
      'holds a line break (U+000A) at character 3; take it out',
    );
  });
});

describe('a joiner', () => {
  it('is spelling between letters that need it, and disguise in an address', () => {
    expect(faultInVisibleText('علی‌رضا')).toBeUndefined();
    expect(faultInAddressText('علی‌رضا')).toMatch(/U\+200C/);
  });

  it('is disguise between Latin letters', () => {
    expect(faultInVisibleText('pay\u200dpal')).toMatch(/U\+200D\) at character 4/);
  });
});

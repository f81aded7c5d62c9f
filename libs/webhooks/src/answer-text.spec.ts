import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { asFieldText, asText } from './answer-text.ts';

const text = (input: string | Buffer, max = 4096): string => asText(Buffer.from(input as string), max);

describe('W7: the stored part of a body', () => {
  it.each(['', 'thank you', '{"a":\t1}\n', 'Zoë 💌 日本'])(
    'is what was said, where it is text: %j',
    (said) => {
      expect(text(said)).toBe(said);
    },
  );

  it.each([
    ['NUL', 'a\0b', 'a\ufffdb'],
    ['an escape sequence', '\x1b[31mred', '\ufffd[31mred'],
    ['C1 controls', 'a\u0085b', 'a\ufffdb'],
    ['a turned direction', 'a\u202eb', 'a\ufffdb'],
    ['a byte order mark', '\ufeffa', '\ufffda'],
    ['a line separator', 'a\u2028b', 'a\ufffdb'],
    ['CR without LF', 'a\rb', 'a\ufffdb'],
    ['line breaks of the network', 'a\r\nb', 'a\nb'],
  ])('has no %s', (_what, said, kept) => {
    expect(text(said)).toBe(kept);
  });

  it('leaves out a character that is cut by the limit', () => {
    expect(text('ab€', 4)).toBe('ab');
    expect(text('ab💌', 5)).toBe('ab');
  });

  it('is never longer than the limit, and always valid text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(80), (bytes, max) => {
        const kept = asText(bytes, max);
        return Buffer.byteLength(kept) <= max && kept.isWellFormed() && !/[^\P{C}\n\t]/u.test(clean(kept));
      }),
    );
  });
});

/** Without what is only not assigned yet, which is no harm. */
function clean(kept: string): string {
  return kept.replace(/[\p{Cn}\p{Co}]/gu, '');
}

describe('W7: the stored value of a header field', () => {
  it('is one line of ASCII, truncated at the limit', () => {
    expect(asFieldText('caf\xe9\tau\0 lait', 100)).toBe('caf\ufffd\ufffdau\ufffd lait');
    expect(asFieldText('x'.repeat(100), 10)).toBe('x'.repeat(10));
  });
});

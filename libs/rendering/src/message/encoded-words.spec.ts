import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodedWords } from './encoded-words.ts';

const WORD = /^=\?UTF-8\?([BQ])\?([^? ]*)\?=$/;

function decode(word: string): string {
  const [, letter, text] = WORD.exec(word)!;
  if (letter === 'B') return Buffer.from(text!, 'base64').toString('utf8');
  const bytes = text!
    .replaceAll('_', ' ')
    .replace(/=([0-9A-F]{2})/g, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

describe('encodedWords', () => {
  it('never splits a character across two words, and makes no word longer than 75 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), fc.nat(15), (text, used) => {
        const words = encodedWords(text, used);
        expect(words.map(decode).join('')).toBe(text);
        expect(used + words[0]!.length).toBeLessThanOrEqual(76);
        for (const word of words) expect(word.length).toBeLessThanOrEqual(75);
      }),
    );
  });

  it('uses the shorter of Q and B encoding', () => {
    expect(encodedWords('Your order in Zürich', 0)[0]).toMatch(/\?Q\?/);
    expect(encodedWords('漢字漢字', 0)[0]).toMatch(/\?B\?/);
  });
});

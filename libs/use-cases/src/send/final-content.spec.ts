import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { finalContent } from './final-content.ts';

const MAX_BYTES = 5_242_880;

describe('S16: a text that is made from the HTML', () => {
  it.each(['x', 'é', '€', '😀'])(
    'has at most 5 MiB, as one that is given, and ends with a whole character: of many %s',
    async (character) => {
      const composed = `_${character.repeat(MAX_BYTES)}`;
      const givenHtml = { subject: 's', html: '<ol>' };
      const { text } = await finalContent(
        { convert: () => Promise.resolve(composed) },
        newId('wrk', 0),
        givenHtml,
      );
      expect(Buffer.from(text).toString()).toBe(text);
      expect(composed.startsWith(text)).toBe(true);
      expect(MAX_BYTES - Buffer.byteLength(text)).toBeLessThan(Buffer.byteLength(character));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    },
  );
});

import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { finishedContent } from './finished-content.ts';

const MAX_BYTES = 5_242_880;

describe('S16: a text that is made from the HTML', () => {
  it.each(['x', 'é', '€', '😀'])(
    'has at most 5 MiB, as one that is given, and ends with a whole character: of many %s',
    async (character) => {
      const made = `_${character.repeat(MAX_BYTES)}`;
      const said = { subject: 's', html: '<ol>' };
      const { text } = await finishedContent({ convert: () => Promise.resolve(made) }, newId('wrk', 0), said);
      expect(Buffer.from(text).toString()).toBe(text);
      expect(made.startsWith(text)).toBe(true);
      expect(MAX_BYTES - Buffer.byteLength(text)).toBeLessThan(Buffer.byteLength(character));
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_BYTES);
    },
  );
});

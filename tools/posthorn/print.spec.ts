import { describe, expect, it } from '@jest/globals';
import { dateTime, table, visible } from './print.mjs';

describe('What is printed', () => {
  it('is aligned, without trailing spaces', () => {
    const columns = { NAME: ({ name }: { name: string }) => name, KIND: () => 'x' };
    expect(table([{ name: 'Ada Lovelace' }, { name: 'Bo' }], columns, 'none')).toBe(
      'NAME          KIND\nAda Lovelace  x\nBo            x',
    );
  });

  it('may have more rows than a function may have arguments', () => {
    const rows = Array.from({ length: 200_000 }, (_, number) => number);
    expect(table(rows, { N: String }, 'none').split('\n')).toHaveLength(200_001);
  });

  it('is a sentence when there are no rows', () => {
    expect(table([], { NAME: () => '' }, 'There is none.')).toBe('There is none.');
  });

  it('escapes control characters in names', () => {
    expect(visible('a\u001b[2Jb\u202ec')).toBe('a\\u{1b}[2Jb\\u{202e}c');
  });

  it('has times in UTC, to the minute', () => {
    expect(dateTime(new Date('2026-01-02T03:04:59Z'))).toBe('2026-01-02 03:04');
  });

  it.each([
    ['infinity, as pg reads it', Number.POSITIVE_INFINITY as unknown as Date, 'Infinity'],
    ['infinity, as Prisma reads it', new Date(Number.NaN), 'Invalid Date'],
  ])('has a word for a time that is no date: %s', (_what, moment, word) => {
    expect(dateTime(moment)).toBe(word);
  });
});

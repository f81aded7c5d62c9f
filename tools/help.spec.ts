import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { SENTENCES } from './help.mjs';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  scripts: Record<string, string>;
};

describe('npm run help', () => {
  it('has a sentence for every script, and for no other', () => {
    expect(Object.keys(SENTENCES).sort()).toEqual(Object.keys(scripts).sort());
  });

  it('says it in sentences', () => {
    for (const sentence of Object.values(SENTENCES)) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });
});

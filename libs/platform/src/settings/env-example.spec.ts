import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { describeSettings, renderEnvExample } from './describe-settings.ts';
import { readSettings } from './read-settings.ts';
import { ALL_SECTIONS } from './sections.ts';

const file = readFileSync(new URL('../../../../.env.example', import.meta.url), 'utf8');
const settings = describeSettings(ALL_SECTIONS);

describe('.env.example', () => {
  it('names exactly the settings that exist', () => {
    const named = [...file.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name);
    expect(named).toEqual(settings.map(({ name }) => name));
  });

  it('is what the settings say of themselves', () => {
    expect(file).toBe(renderEnvExample(settings));
  });

  it('sets nothing as it is, so that a copy of it changes nothing', () => {
    expect(file).not.toMatch(/^[A-Z]/m);
  });

  it('has examples that are enough to start with', () => {
    const lines = [...file.matchAll(/^# ([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    expect(() =>
      readSettings(ALL_SECTIONS, Object.fromEntries(lines) as Record<string, string>),
    ).not.toThrow();
  });

  it('says of each setting what it does, in a sentence', () => {
    for (const { sentence } of settings) expect(sentence).toMatch(/^[A-Z].{15,}\.$/);
  });
});

import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { describeSettings } from './describe-settings.ts';
import { readSettings } from './read-settings.ts';
import { ALL_SECTIONS } from './sections.ts';

const INTRODUCTION = `# Every setting of Posthorn. Copy this file to .env; what is not set there has the default shown.
# Variables of the environment win over this file. An empty value is the same as none. What is required has to be set
# wherever the apps run by themselves; \`npm run up\` brings its own Postgres, Redis and inbox for what is not set.
`;

const path = new URL('../../../../.env.example', import.meta.url);
const settings = describeSettings(ALL_SECTIONS);
if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, rendered());
const file = readFileSync(path, 'utf8');

describe('.env.example', () => {
  it('is generated from the settings; UPDATE_DOCS=1 npm run check:unit -- --testPathPatterns env-example writes it', () => {
    expect(file).toBe(rendered());
  });

  it('has all settings commented out, so that a copy changes nothing', () => {
    expect(file).not.toMatch(/^[A-Z]/m);
  });

  it('has examples that are sufficient to start, except for the encryption key', () => {
    const lines = [...file.matchAll(/^# ([A-Z0-9_]+)=(.*)$/gm)].map(([, name, value]) => [name, value]);
    const examples = Object.fromEntries(lines) as Record<string, string>;
    const ENCRYPTION_KEYS = `first:${randomBytes(32).toString('base64')}`;
    expect(() => readSettings(ALL_SECTIONS, { ...examples, ENCRYPTION_KEYS })).not.toThrow();
    expect(() => readSettings(ALL_SECTIONS, examples)).toThrow('ENCRYPTION_KEYS: key 1 is not base64');
  });

  it('describes each setting in a sentence', () => {
    for (const { sentence } of settings) expect(sentence).toMatch(/^[A-Z].{15,}\.$/);
  });
});

/** All settings, commented out, each with an example or its default. */
function rendered(): string {
  const blocks = settings.map(({ name, sentence, allowed, required, default: fallback, example }) => {
    const about = required ? `Required: ${allowed}.` : `Allowed: ${allowed}.`;
    return `# ${sentence}\n# ${about}\n# ${name}=${example ?? fallback ?? ''}\n`;
  });
  return [INTRODUCTION, ...blocks].join('\n');
}

import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readSettings } from './read-settings.ts';
import { SecretSettings } from './secret-settings.ts';

const read = (ENCRYPTION_KEYS?: string): SecretSettings =>
  readSettings({ secrets: SecretSettings }, { ENCRYPTION_KEYS }).secrets;

describe('SecretSettings', () => {
  it('create a SecretBox from the keys', () => {
    const { box } = read(`2026:${randomBytes(32).toString('base64')}`);
    expect(box.open(box.seal('kept', 'here'), 'here').toString()).toBe('kept');
  });

  it('describe a valid key when there is none', () => {
    expect(() => read()).toThrow(
      'ENCRYPTION_KEYS is not set; it must be one or more keys, each an id of 1 to 32 letters, digits, `_` or `-`, a colon and 32 bytes in base64, separated by commas',
    );
  });

  it('name the key that is wrong, and never show it', () => {
    const key = randomBytes(32).toString('base64');
    expect(() => read(`old:${key},new:${key}`)).toThrow(
      'ENCRYPTION_KEYS: key 2 has the id or the bytes of another one',
    );
    expect(() => read(`2026:${key},S3CRET`)).toThrow(/^(?!.*S3CRET).*ENCRYPTION_KEYS: key 2 has no id/s);
    expect(() => read('2026:S3CRET')).toThrow(/^(?!.*S3CRET).*ENCRYPTION_KEYS: key 1 is not base64/s);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findKeyRing } from './key-ring.mjs';

describe('The key ring of the command line', () => {
  let folder: string;
  let files: { envFile: string; secretsFile: string };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'key-ring-'));
    files = { envFile: join(folder, '.env'), secretsFile: join(folder, 'secrets.json') };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is that of the environment, else of .env, else of the local stack', () => {
    writeFileSync(files.secretsFile, '{ "encryptionKeys": "of the stack" }');
    expect(findKeyRing({}, files)).toBe('of the stack');
    writeFileSync(files.envFile, 'ENCRYPTION_KEYS="of the file"');
    expect(findKeyRing({}, files)).toBe('of the file');
    expect(findKeyRing({ ENCRYPTION_KEYS: 'of the environment' }, files)).toBe('of the environment');
  });

  it('is asked for when there is none', () => {
    expect(() => findKeyRing({}, files)).toThrow('ENCRYPTION_KEYS is not set');
  });
});

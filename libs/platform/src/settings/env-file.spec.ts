import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadEnvFile } from './env-file.ts';

describe('loadEnvFile', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'env-file-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('fills in what the environment lacks or has empty, and only that', () => {
    const env = { A: 'from the environment', B: '' };
    writeFileSync(join(folder, '.env'), '# a comment\nA=from the file\nB="b"\nC="from the file"\n');
    loadEnvFile(join(folder, '.env'), env);
    expect(env).toEqual({ A: 'from the environment', B: 'b', C: 'from the file' });
  });

  it('does not mind a missing file', () => {
    expect(() => loadEnvFile(join(folder, 'absent'), {})).not.toThrow();
  });

  it('minds a file that cannot be read', () => {
    expect(() => loadEnvFile(folder, {})).toThrow();
  });
});

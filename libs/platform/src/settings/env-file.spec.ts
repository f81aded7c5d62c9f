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

  it('sets only variables that are missing or empty in the environment', () => {
    const env = { A: 'from the environment', B: '' };
    writeFileSync(join(folder, '.env'), '# a comment\nA=from the file\nB="b"\nC="from the file"\n');
    loadEnvFile(join(folder, '.env'), env);
    expect(env).toEqual({ A: 'from the environment', B: 'b', C: 'from the file' });
  });

  it('reads the first variable after a byte order mark, which editors on Windows write', () => {
    const env = {};
    writeFileSync(join(folder, '.env'), '\uFEFFA=1\r\nB=2\r\n');
    loadEnvFile(join(folder, '.env'), env);
    expect(env).toEqual({ A: '1', B: '2' });
  });

  it('ignores a missing file', () => {
    expect(() => loadEnvFile(join(folder, 'absent'), {})).not.toThrow();
  });

  it('throws if the file cannot be read', () => {
    expect(() => loadEnvFile(folder, {})).toThrow('EISDIR');
  });
});

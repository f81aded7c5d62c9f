import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findDatabaseUrl } from './database-url.mjs';

describe('The database that the command line uses', () => {
  let folder: string;
  let files: { envFile: string; stackFile: string };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'posthorn-cli-'));
    files = { envFile: join(folder, '.env'), stackFile: join(folder, 'stack.json') };
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const inEnvFile = () => writeFileSync(files.envFile, 'DATABASE_URL=postgresql://file/x\n');
  const inStackFile = () =>
    writeFileSync(files.stackFile, JSON.stringify({ databaseUrl: 'postgresql://stack/x' }));

  it('is the one in the environment, which takes precedence', () => {
    inEnvFile();
    inStackFile();
    const found = findDatabaseUrl({ DATABASE_URL: 'postgresql://env/x' }, files);
    expect(found).toEqual({ url: 'postgresql://env/x', from: 'the environment' });
  });

  it('is the one in .env rather than the stack’s, even if the variable is set but empty', () => {
    inEnvFile();
    inStackFile();
    expect(findDatabaseUrl({ DATABASE_URL: '' }, files).from).toBe('.env');
  });

  it('is that of the local stack if nothing else is set', () => {
    inStackFile();
    expect(findDatabaseUrl({}, files)).toEqual({ url: 'postgresql://stack/x', from: '.posthorn/stack.json' });
  });

  it('is missing: the error says how to set it', () => {
    expect(() => findDatabaseUrl({}, files)).toThrow(/DATABASE_URL is not set.*npm run up/);
  });
});

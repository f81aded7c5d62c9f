import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findDatabaseUrl } from './database-url.mjs';

describe('The database that is worked on', () => {
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

  it('is that of the environment before any other', () => {
    inEnvFile();
    inStackFile();
    const found = findDatabaseUrl({ DATABASE_URL: 'postgresql://env/x' }, files);
    expect(found).toEqual({ url: 'postgresql://env/x', from: 'the environment' });
  });

  it('is that of .env before the stack’s, also when the variable is empty', () => {
    inEnvFile();
    inStackFile();
    expect(findDatabaseUrl({ DATABASE_URL: '' }, files).from).toBe('.env');
  });

  it('is that of the stack that runs here when nothing else says so', () => {
    inStackFile();
    expect(findDatabaseUrl({}, files)).toEqual({ url: 'postgresql://stack/x', from: '.posthorn/stack.json' });
  });

  it('is asked for, with how to say it, when there is none', () => {
    expect(() => findDatabaseUrl({}, files)).toThrow(/DATABASE_URL is not set.*npm run up/);
  });
});

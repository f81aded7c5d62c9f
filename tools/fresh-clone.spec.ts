import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';

const clone = mkdtempSync(join(tmpdir(), 'fresh-clone-'));
cpSync(fileURLToPath(new URL('.', import.meta.url)), join(clone, 'tools'), { recursive: true });
afterAll(() => rmSync(clone, { recursive: true }));

/** Runs a program in the clone, where nothing is installed or built. */
function run(...args: string[]): { status: number | null; output: string } {
  const env = { PATH: process.env['PATH'], DATABASE_URL: 'postgresql://127.0.0.1:1/posthorn' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: clone, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('In a fresh clone', () => {
  it.each([
    ['tools/prisma.mjs generate', 'The packages are not installed: run npm ci.\n'],
    [
      'tools/migrate.mjs',
      'migrate: Posthorn is not built here: run npm run build (and npm ci before it, in a fresh clone)\n',
    ],
    [
      'tools/posthorn.mjs status',
      'posthorn: Posthorn is not built here: run npm run build (and npm ci before it, in a fresh clone)\n',
    ],
  ])('%s says what to run first', (line, output) => {
    expect(run(...line.split(' '))).toEqual({ status: 1, output });
  });
});

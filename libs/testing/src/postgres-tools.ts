import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where Debian and its derivatives install each release. */
const INSTALLED = '/usr/lib/postgresql';
const NEEDED = ['initdb', 'postgres', 'pg_dump', 'pg_restore'];

/** The machine's Postgres, with `pg_dump` and `pg_restore`; the packaged one that tests normally use has neither. */
export class PostgresTools {
  private constructor(
    /** The folder of its programs, for `PrivatePostgres.start`: pg_dump refuses servers that are newer than itself. */
    readonly binaries: string,
  ) {}

  /** The newest release that is installed; undefined if there is none. */
  static find(): PostgresTools | undefined {
    const releases = existsSync(INSTALLED) ? readdirSync(INSTALLED) : [];
    const folders = releases
      .sort((one, other) => Number(other) - Number(one))
      .map((release) => join(INSTALLED, release, 'bin'));
    const complete = folders.find((folder) => NEEDED.every((name) => existsSync(join(folder, name))));
    return complete === undefined ? undefined : new PostgresTools(complete);
  }

  /** Makes a backup, as operators do. */
  async dump(url: string, file: string): Promise<void> {
    await run(join(this.binaries, 'pg_dump'), ['--format=custom', `--file=${file}`, url]);
  }

  /** Restores a backup into an empty database. */
  async restore(file: string, url: string): Promise<void> {
    await run(join(this.binaries, 'pg_restore'), ['--no-owner', '--exit-on-error', `--dbname=${url}`, file]);
  }
}

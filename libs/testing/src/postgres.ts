import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { validateRecordedEvents } from './recorded-events.ts';
import { freePort, stackModule, type StartedServer } from './stack.ts';

const TEMPLATE = 'posthorn_template';

/** Far longer than a server takes to stop: a killed one leaves child processes behind, which prevent a restart. */
const STOP_TIMEOUT_MS = 60_000;

/** The settings of a server with standbys. */
const REPLICATED = { wal_level: 'replica', max_wal_senders: '10' };

/**
 * SQLSTATE object_in_use: something, for instance autovacuum, is briefly connected to the template; or the sessions of a database that is
 * being dropped have not ended within the five seconds that Postgres gives them.
 */
const IN_USE = '55006';

/** Processes of a server that was killed may still be writing into its folder. */
const REMOVED = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };

/**
 * Limits of `openDatabase` for tests of something else: on a busy machine, a session may take seconds to start, a statement to be executed, and a test to
 * release a lock.
 */
export const PATIENT_LIMITS = {
  connectMs: 60_000,
  lockMs: 60_000,
  statementMs: 60_000,
  idleInTransactionMs: 120_000,
  transactionMs: 120_000,
};

/** A migrated database that belongs to one test file. */
export interface TestDatabase {
  readonly url: string;
  /** Disconnects all clients and drops the database. @throws when it contains an event that does not match its definition */
  drop(): Promise<void>;
}

/** The server that `npm test` started. @throws when the tests were not started by it */
export function testPostgresUrl(): string {
  const url = process.env.TEST_POSTGRES_URL;
  if (url === undefined)
    throw new Error('TEST_POSTGRES_URL is not set: run this test through `npm test -- <path>`.');
  return url;
}

/** A new database with every migration applied; it is copied from a template, which takes tens of milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const created = await copyOf(TEMPLATE);
  const { query } = await stackModule('postgres');
  // Otherwise it would be recognised as a copy of another database, whose emails are paused.
  await query(created.url, 'UPDATE event_eras SET database_oid = (database_identity()).database_oid');
  return created;
}

/** A copy of a database, like a dump that was restored on the same server. No client may be connected to the original. */
export async function copyTestDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  return copyOf(new URL(url).pathname.slice(1));
}

async function copyOf(template: string): Promise<TestDatabase> {
  const maintenance = testPostgresUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const { query } = await stackModule('postgres');
  await unlessInUse(() => query(maintenance, `CREATE DATABASE ${name} TEMPLATE ${template}`));
  const url = new URL(maintenance);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      try {
        await validateRecordedEvents(url.href);
      } finally {
        await unlessInUse(() => query(maintenance, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
      }
    },
  };
}

/** Repeats a statement while something else uses the database that it is about. */
async function unlessInUse(execute: () => Promise<unknown>, triesLeft = 20): Promise<void> {
  try {
    await execute();
  } catch (error) {
    if ((error as { code?: string }).code !== IN_USE || triesLeft === 0) throw error;
    await sleep(100);
    await unlessInUse(execute, triesLeft - 1);
  }
}

/** A Postgres server that one test owns, and may stop, crash and start again at the same address. */
export class PrivatePostgres {
  /** A migrated database; the role is a superuser. */
  readonly url: string;
  readonly port: number;
  readonly #directory: string;
  #server: StartedServer | undefined;
  /** Settings that it is started with, in addition to those of all test servers. */
  #settings: Record<string, string> = {};

  private constructor(directory: string, server: StartedServer & { url(database?: string): string }) {
    this.#directory = directory;
    this.#server = server;
    this.port = server.port;
    this.url = server.url('posthorn');
  }

  /**
   * @param options.connections the maximum number of connections, until it is restarted
   * @param options.settings in addition to those of all test servers
   * @param options.binaries the folder of other Postgres programs; such a server cannot be restarted
   * @param options.disk the folder to create its directory in; default: the system's folder for temporary files
   * @param options.isEmpty whether no migration is applied
   */
  static async start({
    connections,
    settings: own = {},
    binaries,
    disk = tmpdir(),
    isEmpty = false,
  }: {
    connections?: number;
    settings?: Record<string, string>;
    binaries?: string;
    disk?: string;
    isEmpty?: boolean;
  } = {}): Promise<PrivatePostgres> {
    const [{ startPostgres, ensureDatabase, FAST_AND_TEMPORARY }, { migrate }] = await Promise.all([
      stackModule('postgres'),
      stackModule('migrate'),
    ]);
    const directory = await mkdtemp(join(disk, 'posthorn-postgres-'));
    await chmod(directory, 0o755);
    const bound = connections === undefined ? {} : { max_connections: String(connections) };
    const settings = { ...FAST_AND_TEMPORARY, ...own, ...bound };
    const server = await startPostgres({
      directory,
      port: await freePort(),
      settings,
      ...(binaries === undefined ? {} : { binaries }),
    });
    const postgres = new PrivatePostgres(directory, server);
    postgres.#settings = own;
    try {
      await ensureDatabase(server.url(), 'posthorn');
      if (!isEmpty) await migrate(postgres.url);
      return postgres;
    } catch (error) {
      await postgres.close();
      throw error;
    }
  }

  /** Disconnects all clients and stops, like a fast shutdown by an operator. */
  async stop(): Promise<void> {
    await this.#server?.stop({ withinMs: STOP_TIMEOUT_MS });
    this.#server = undefined;
  }

  /** Stops at once (immediate shutdown); the next start recovers from the write-ahead log. */
  async crash(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  /** Starts again at the same port, with the same data. */
  async restart(): Promise<void> {
    await this.#restartWith({});
  }

  /** Starts again as a standby, as the old primary does after a failover. */
  async demote(): Promise<void> {
    const settings = { wal_level: 'replica' };
    // A standby goes on only from a log that was written for standbys.
    await this.#restartWith(settings);
    await this.stop();
    await writeFile(join(this.#directory, 'data', 'standby.signal'), '');
    await this.#restartWith(settings);
  }

  /**
   * Adds a synchronous standby, which answers reads. The server restarts for that; from then on it confirms only commits that the standby has.
   * The standby must be closed separately.
   */
  async addStandby(): Promise<PrivatePostgres> {
    const { startPostgres, query, FAST_AND_TEMPORARY } = await stackModule('postgres');
    this.#settings = { ...this.#settings, ...REPLICATED };
    // A standby goes on only from a log that was written for standbys.
    await this.restart();
    await this.stop();
    const directory = await mkdtemp(join(tmpdir(), 'posthorn-postgres-'));
    await promisify(execFile)('cp', ['-a', `${this.#directory}/.`, directory]);
    await this.restart();
    await writeFile(join(directory, 'data', 'standby.signal'), '');
    const following = new URL(this.url);
    following.pathname = '/';
    following.searchParams.set('application_name', 'standby');
    const own = { ...REPLICATED, primary_conninfo: following.href };
    const settings = { ...FAST_AND_TEMPORARY, ...own };
    const server = await startPostgres({ directory, port: await freePort(), settings });
    const standby = new PrivatePostgres(directory, server);
    standby.#settings = own;
    await query(this.url, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
    await query(this.url, 'SELECT pg_reload_conf()');
    const isFollowed = `SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'`;
    while ((await query(this.url, isFollowed)).length === 0) await sleep(50);
    return standby;
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await (await stackModule('postgres')).query(this.url, 'SELECT pg_promote()');
  }

  /** Kills it, as when its machine fails. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const { stopProcess } = await stackModule('processes');
    const server = this.#server;
    if (server !== undefined) await stopProcess(server.child, { signal, withinMs: STOP_TIMEOUT_MS });
    await this.stop();
  }

  async #restartWith(more: Record<string, string>): Promise<void> {
    await this.stop();
    const { startPostgres, FAST_AND_TEMPORARY } = await stackModule('postgres');
    const settings = { ...FAST_AND_TEMPORARY, ...this.#settings, ...more };
    const [directory, port] = [this.#directory, this.port];
    this.#server = await startPostgres({ directory, port, settings });
  }

  /** Stops the server and removes its data. @throws when it runs and contains an event that does not match its definition */
  async close(): Promise<void> {
    try {
      if (this.#server !== undefined) await validateRecordedEvents(this.url);
    } finally {
      await this.stop();
      await rm(this.#directory, REMOVED);
    }
  }
}

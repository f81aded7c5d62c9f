import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '../stack/account.mjs';
import { migrate } from '../stack/migrate.mjs';
import { freePort } from '../stack/ports.mjs';
import { ensureDatabase, query, startPostgres } from '../stack/postgres.mjs';
import { isHealthy, startServer, stopProcess } from '../stack/processes.mjs';
import { say } from '../stack/progress.mjs';
import { askRedis, startRedis } from '../stack/redis.mjs';
import { nodeBinary, ROOT } from '../stack/runtime.mjs';
import { newKeyRing } from '../stack/secrets.mjs';
import { containerHeap } from './container-heap.mjs';
import { startBenchProcess } from './bench-process.mjs';
import { makeWorkspaces } from './workspaces.mjs';

const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;
const MIB = 1_024 * 1_024;

/** Durable as in production. The last two count statements and date commits; they slow Posthorn, not the baselines. */
const POSTGRES_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_preload_libraries: 'pg_stat_statements',
  track_commit_timestamp: 'on',
};

/** @typedef {import('./bench-process.mjs').BenchProcess} BenchProcess */
/** @typedef {{ key: string, editorKey: string, id: string }} BenchWorkspace */

/** What the benchmarks run on: a Postgres, a Redis and an SMTP sink of this run's own, and the built apps. */
export class BenchEnvironment {
  /** Run in reverse order. @type {(() => unknown)[]} */
  #cleanups = [];
  #directory = '';
  #redisPort = 0;
  #keyRing = newKeyRing();
  /** @type {Promise<void> | undefined} */
  #tornDown;
  databaseUrl = '';
  sinkPort = 0;
  /** @type {BenchProcess} */
  sink = /** @type {any} */ (undefined);
  /** Two: the first has the backlog where there is one. @type {BenchWorkspace[]} */
  workspaces = [];

  async setUp() {
    this.#directory = makeTemporaryFolder('bench');
    this.#cleanups.push(() => rmSync(this.#directory, { recursive: true, force: true }));
    await this.#startServices();
    await migrate(this.databaseUrl);
    await this.query('CREATE EXTENSION pg_stat_statements');
    this.workspaces = await makeWorkspaces(this.databaseUrl, this.#keyRing, ['Backlog', 'Neighbour']);
    this.sink = await this.startBenchProcess(new URL('./sink-process.mjs', import.meta.url));
    this.sinkPort = await this.sink.ask('listen');
  }

  async #startServices() {
    const postgres = await startPostgres({
      directory: join(this.#directory, 'postgres'),
      port: await freePort(),
      settings: POSTGRES_SETTINGS,
    });
    this.#cleanups.push(postgres.stop);
    await ensureDatabase(postgres.url(), 'posthorn');
    this.databaseUrl = postgres.url('posthorn');
    this.#redisPort = await freePort();
    const directory = join(this.#directory, 'redis');
    const redis = await startRedis({ directory, port: this.#redisPort });
    this.#cleanups.push(redis.stop);
  }

  /** @param {string} sql @param {unknown[]} [values] */
  query(sql, values) {
    return query(this.databaseUrl, sql, values);
  }

  /** The number of statements since the last reset of pg_stat_statements, with BEGIN and COMMIT, without the reset itself. */
  async countStatements() {
    const [row] = await this.query(
      "SELECT sum(calls)::int AS calls FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'",
    );
    return Number(row?.calls ?? 0);
  }

  /**
   * From now on, emails are signed with the keys of these algorithms only.
   *
   * @param {readonly string[]} algorithms
   */
  async signWith(algorithms) {
    await this.query(
      'UPDATE dkim_keys SET published_at = CASE WHEN algorithm::text = ANY ($1) THEN now() END',
      [algorithms],
    );
  }

  /** @param {URL} script */
  async startBenchProcess(script) {
    const benchProcess = await startBenchProcess(script);
    this.#cleanups.push(benchProcess.stop);
    return benchProcess;
  }

  /**
   * Starts a built app with its default settings and the heap of its container, in a folder without a developer's `.env`. Its Node is given
   * the options in BENCH_NODE_OPTIONS, for profiling.
   *
   * @param {'gateway' | 'sender' | 'scheduler' | 'webhook-dispatcher'} name
   */
  async startApp(name) {
    const port = await freePort();
    const script = join(ROOT, 'apps', name, 'dist', 'main.js');
    const child = await startServer({
      name,
      command: nodeBinary(),
      args: [
        ...containerHeap(name),
        ...(process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean),
        script,
      ],
      env: this.#appEnv(port),
      cwd: this.#directory,
      logFile: join(this.#directory, `${name}.log`),
      isUp: () => isHealthy(`http://127.0.0.1:${port}/health/ready`),
      withinMs: READY_WITHIN_MS,
    });
    const stop = () => stopProcess(child, { withinMs: STOP_WITHIN_MS });
    this.#cleanups.push(stop);
    return { port, pid: /** @type {number} */ (child.pid), stop };
  }

  #appEnv(port) {
    return {
      ...process.env,
      NODE_ENV: 'production',
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(port),
      DATABASE_URL: this.databaseUrl,
      REDIS_URL: `redis://127.0.0.1:${this.#redisPort}`,
      SMTP_URL: `smtp://127.0.0.1:${this.sinkPort}`,
      MONTHLY_EMAIL_LIMIT: '0',
      // Limited, as in production, but never refused.
      RATE_LIMIT_PER_SECOND: '100000',
      RATE_LIMIT_BURST: '1000000',
      ENCRYPTION_KEYS: this.#keyRing,
      // The receivers of the benchmark are on loopback.
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    };
  }

  /** Deletes all emails, events and jobs, so that each measurement starts from the same state. */
  async reset() {
    await this.query(
      `TRUNCATE outbox, emails, email_contents, email_events, idempotency_keys, contacts, events, webhook_deliveries,
                webhook_attempts, webhooks, slow_lanes, paused_lanes CASCADE`,
    );
    await this.query('CHECKPOINT');
    await askRedis(this.#redisPort, 'FLUSHALL');
    await this.sink.ask('reset');
  }

  /** The resident memory of Redis, in MiB. */
  async redisMiB() {
    return (await this.#readMemory('used_memory_rss')) / MIB;
  }

  /** The size of the data in Redis, in bytes. */
  redisBytes() {
    return this.#readMemory('used_memory');
  }

  async #readMemory(name) {
    const found = new RegExp(`^${name}:(\\d+)`, 'm').exec(await askRedis(this.#redisPort, 'INFO memory'));
    return Number(found?.[1]);
  }

  /** Stops and removes everything, even after a failed setup; further calls return the same promise. */
  tearDown() {
    this.#tornDown ??= this.#tearDown();
    return this.#tornDown;
  }

  async #tearDown() {
    for (const action of this.#cleanups.splice(0).reverse()) {
      try {
        await action();
      } catch (error) {
        say(`  ! cleaning up: ${error.message}`);
      }
    }
  }
}

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../stack/migrate.mjs';
import { freePort } from '../stack/ports.mjs';
import { ensureDatabase, query, startPostgres } from '../stack/postgres.mjs';
import {
  hasEnded,
  isHealthy,
  leash,
  startProcess,
  stopProcess,
  tail,
  waitUntil,
} from '../stack/processes.mjs';
import { say } from '../stack/progress.mjs';
import { askRedis, startRedis } from '../stack/redis.mjs';
import { nodeBinary, ROOT } from '../stack/runtime.mjs';
import { newKeyRing } from '../stack/secrets.mjs';
import { containerHeap } from './container-heap.mjs';
import { startHelper } from './helper.mjs';
import { makeWorkspaces } from './workspaces.mjs';

const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;
const MIB = 1_024 * 1_024;

/** Durable as in production; the two additions count statements and date commits, and cost us, not the yardsticks. */
const POSTGRES_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_preload_libraries: 'pg_stat_statements',
  track_commit_timestamp: 'on',
};

/** @typedef {import('./helper.mjs').Helper} Helper */
/** @typedef {{ key: string, editorKey: string, id: string }} BenchWorkspace */

/** What everything is measured on: a Postgres, a Redis and a sink of this run's own, and the apps as they are built. */
export class Ground {
  /** What to undo, the newest last. @type {(() => unknown)[]} */
  #undo = [];
  #directory = '';
  #redisPort = 0;
  #keyRing = newKeyRing();
  /** @type {Promise<void> | undefined} */
  #cleared;
  databaseUrl = '';
  sinkPort = 0;
  /** @type {Helper} */
  sink = /** @type {any} */ (undefined);
  /** @type {BenchWorkspace[]} two: one with a backlog, and one beside it */
  workspaces = [];

  async prepare() {
    this.#directory = mkdtempSync(join(tmpdir(), 'posthorn-bench-'));
    this.#undo.push(() => rmSync(this.#directory, { recursive: true, force: true }));
    // Postgres, which refuses to be root, must pass through it.
    chmodSync(this.#directory, 0o755);
    await this.#startServices();
    await migrate(this.databaseUrl);
    await this.query('CREATE EXTENSION pg_stat_statements');
    this.workspaces = await makeWorkspaces(this.databaseUrl, this.#keyRing, ['Backlog', 'Neighbour']);
    this.sink = await this.startHelper(new URL('./sink-process.mjs', import.meta.url));
    this.sinkPort = await this.sink.ask('listen');
  }

  async #startServices() {
    const postgres = await startPostgres({
      directory: join(this.#directory, 'postgres'),
      port: await freePort(),
      settings: POSTGRES_SETTINGS,
      leashed: true,
    });
    this.#undo.push(postgres.stop);
    await ensureDatabase(postgres.url(), 'posthorn');
    this.databaseUrl = postgres.url('posthorn');
    this.#redisPort = await freePort();
    const directory = join(this.#directory, 'redis');
    const redis = await startRedis({ directory, port: this.#redisPort, leashed: true });
    this.#undo.push(redis.stop);
  }

  /** @param {string} sql @param {unknown[]} [values] */
  query(sql, values) {
    return query(this.databaseUrl, sql, values);
  }

  /** All that the server was told since the last reset, BEGIN and COMMIT too, but for the resetting itself. */
  async countStatements() {
    const [row] = await this.query(
      "SELECT sum(calls)::int AS calls FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'",
    );
    return Number(row?.calls ?? 0);
  }

  /**
   * From now on emails are signed with keys of these algorithms, and no others.
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
  async startHelper(script) {
    const helper = await startHelper(script);
    this.#undo.push(helper.stop);
    return helper;
  }

  /**
   * Starts an app as it is built, with its default settings and the heap of its container, out of reach of a developer's `.env`.
   * BENCH_NODE_OPTIONS goes to its Node, for profiles.
   *
   * @param {'gateway' | 'sender' | 'scheduler' | 'webhook-dispatcher'} name
   */
  async startApp(name) {
    const port = await freePort();
    const logFile = join(this.#directory, `${name}.log`);
    const script = join(ROOT, 'apps', name, 'dist', 'main.js');
    const child = await startProcess({
      command: nodeBinary(),
      args: [
        ...containerHeap(name),
        ...(process.env.BENCH_NODE_OPTIONS ?? '').split(' ').filter(Boolean),
        script,
      ],
      env: this.#appEnv(port),
      cwd: this.#directory,
      logFile,
    });
    const unleash = leash(/** @type {number} */ (child.pid));
    const stop = async () => {
      unleash();
      await stopProcess(child, { withinMs: STOP_WITHIN_MS });
    };
    this.#undo.push(stop);
    const isUp = () => {
      if (hasEnded(child)) throw new Error(`${name} did not start:\n${tail(logFile)}`);
      return isHealthy(`http://127.0.0.1:${port}/health/ready`);
    };
    await waitUntil(isUp, { withinMs: READY_WITHIN_MS, what: name });
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

  /** Forgets all emails, events and rings, so that each measurement begins with the same ground. */
  async sweep() {
    await this.query(
      `TRUNCATE outbox, emails, email_contents, email_events, idempotency_keys, contacts, events, webhook_deliveries,
                webhook_attempts, webhooks, slow_lanes, paused_lanes CASCADE`,
    );
    await this.query('CHECKPOINT');
    await askRedis(this.#redisPort, 'FLUSHALL');
    await this.sink.ask('reset');
  }

  /** What Redis holds of the machine's memory, in MiB. */
  async redisMiB() {
    return (await this.#askMemory('used_memory_rss')) / MIB;
  }

  /** What Redis keeps, in bytes. */
  redisBytes() {
    return this.#askMemory('used_memory');
  }

  async #askMemory(name) {
    const told = new RegExp(`^${name}:(\\d+)`, 'm').exec(await askRedis(this.#redisPort, 'INFO memory'));
    return Number(told?.[1]);
  }

  /** Stops and removes everything, whatever state it is in; who asks again waits for the same end. */
  clear() {
    this.#cleared ??= this.#clear();
    return this.#cleared;
  }

  async #clear() {
    for (const action of this.#undo.splice(0).reverse()) {
      try {
        await action();
      } catch (error) {
        say(`  ! cleaning up: ${error.message}`);
      }
    }
  }
}

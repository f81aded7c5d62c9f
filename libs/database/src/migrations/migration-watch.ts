import { sleep } from '@posthorn/kernel';
import pg from 'pg';
import { withVerifiedTls } from '../connection/verified-tls.ts';

/** The advisory lock that Prisma's own migrator takes, so that both exclude each other. */
export const MIGRATION_LOCK = 72707369;

/** A session that has locked what a migration needs. */
interface LockHolder {
  /** 0: a prepared transaction, which belongs to no session. */
  readonly pid: number;
  readonly role: string;
  readonly applicationName: string;
}

/** How far Postgres is with an index. */
interface IndexProgress {
  readonly table: string;
  /** In the words of Postgres. https://www.postgresql.org/docs/current/progress-reporting.html#CREATE-INDEX-PROGRESS-REPORTING */
  readonly phase: string;
  /** Of the phase; null while it has nothing to count. */
  readonly percent: number | null;
}

/** A migration that takes long, or does not begin. */
export interface MigrationDelay {
  /** Undefined before the first one, as while another process migrates. */
  readonly migration: string | undefined;
  /** For how long it has been under way, with all its attempts. */
  readonly seconds: number;
  /** Whose locks it waits for; undefined when the database does not answer. */
  readonly holders: readonly LockHolder[] | undefined;
  /** Undefined unless an index is being built. */
  readonly index: IndexProgress | undefined;
}

type Situation = Pick<MigrationDelay, 'holders' | 'index'>;

const LOOK_EVERY_MS = 1_000;
const TELL_EVERY_MS = 5_000;
const ANSWER_TIMEOUT_MS = 3_000;

const UNHINDERED: Situation = { holders: [], index: undefined };
const UNKNOWN: Situation = { holders: undefined, index: undefined };

/**
 * The sessions that another one waits for, in a statement or because they are migrating; 0 stands for prepared transactions. $1 int: its pid. $2 bigint: the
 * lock of those that migrate. Locks: none.
 */
const FIND_HOLDERS = `
SELECT   b.pid, coalesce(a.usename, '') AS role, coalesce(a.application_name, '') AS "applicationName"
FROM     (SELECT unnest(pg_blocking_pids($1::int)) AS pid
          UNION
          SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
          WHERE  l.locktype = 'advisory' AND (l.classid, l.objid, l.objsubid) = (0::oid, $2::oid, 1) AND l.granted AND l.pid <> $1::int) b
LEFT JOIN pg_stat_activity a ON a.pid = b.pid
WHERE    b.pid = 0 OR a.pid IS NOT NULL
ORDER BY b.pid`;

/** The index that a session builds. $1 int: its pid. Locks: none. */
const FIND_INDEX = `
SELECT relid::regclass::text AS table, phase,
       CASE WHEN tuples_total > 0 THEN 100 * tuples_done / tuples_total WHEN blocks_total > 0 THEN 100 * blocks_done / blocks_total END::int AS percent
FROM   pg_stat_progress_create_index
WHERE  pid = $1::int`;

/** Watches a session that migrates from a connection of its own, and tells every five seconds what it waits for. */
export class MigrationWatch {
  private readonly ended = new AbortController();
  private readonly watching: Promise<void>;
  private pid: number | undefined;
  private migration: string | undefined;
  private begunAtMs = performance.now();
  private isAtWork = true;
  private situation = UNHINDERED;
  private client: pg.Client | undefined;

  constructor(
    private readonly databaseUrl: string,
    private readonly onDelay: (delay: MigrationDelay) => void,
  ) {
    this.watching = this.watch();
  }

  /** @param pid of the session that migrates */
  follow(pid: number): void {
    this.pid = pid;
  }

  begin(migration: string): void {
    this.migration = migration;
    this.begunAtMs = performance.now();
    this.situation = UNHINDERED;
  }

  /** Between two attempts nothing is waited for: who was in the way of the last one counts until the next one is under way. */
  async rest(ms: number): Promise<void> {
    this.isAtWork = false;
    await sleep(ms);
    this.isAtWork = true;
  }

  async end(): Promise<void> {
    this.ended.abort();
    await this.watching;
    // A server that does not answer does not close the connection either.
    void this.client?.end().catch(() => undefined);
  }

  private async watch(): Promise<void> {
    const { signal } = this.ended;
    let toldAtMs = performance.now();
    for (;;) {
      await sleep(LOOK_EVERY_MS, signal);
      if (signal.aborted) return;
      const { begunAtMs, migration } = this;
      if (performance.now() - begunAtMs < LOOK_EVERY_MS) continue;
      if (this.isAtWork) {
        const situation = await this.look();
        if (signal.aborted) return;
        if (this.begunAtMs !== begunAtMs) continue;
        if (this.isAtWork) this.situation = situation;
      }
      const now = performance.now();
      if (now - Math.max(begunAtMs, toldAtMs) < TELL_EVERY_MS) continue;
      toldAtMs = now;
      this.onDelay({ migration, seconds: (now - begunAtMs) / 1_000, ...this.situation });
    }
  }

  private async look(): Promise<Situation> {
    try {
      this.client ??= await this.connect();
      const holders = await this.client.query<LockHolder>(FIND_HOLDERS, [this.pid, MIGRATION_LOCK]);
      const index = await this.client.query<IndexProgress>(FIND_INDEX, [this.pid]);
      return { holders: holders.rows, index: index.rows[0] };
    } catch {
      void this.client?.end().catch(() => undefined);
      this.client = undefined;
      return UNKNOWN;
    }
  }

  private async connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: withVerifiedTls(this.databaseUrl),
      application_name: 'posthorn-migrate-watch',
      connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}

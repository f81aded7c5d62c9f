import { sleep } from '@posthorn/kernel';
import pg from 'pg';
import { withVerifiedTls } from '../connection/verified-tls.ts';

/** A session that has locked what a migration needs. */
export interface LockHolder {
  /** 0: a prepared transaction, which belongs to no session. */
  readonly pid: number;
  readonly role: string;
  readonly applicationName: string;
}

/** A migration that takes long, or does not begin. */
export interface MigrationDelay {
  /** Undefined before the first one, as while another process migrates. */
  readonly migration: string | undefined;
  /** For how long it has been under way, with all its attempts. */
  readonly seconds: number;
  /** Whose locks it waits for; undefined when the database does not answer. */
  readonly holders: readonly LockHolder[] | undefined;
}

const LOOK_EVERY_MS = 1_000;
const TELL_EVERY_MS = 5_000;
const ANSWER_TIMEOUT_MS = 3_000;

/** The sessions that another one waits for; 0 stands for prepared transactions. $1 int: its pid. Locks: none. */
const FIND_HOLDERS = `
SELECT   b.pid, coalesce(a.usename, '') AS role, coalesce(a.application_name, '') AS "applicationName"
FROM     (SELECT DISTINCT unnest(pg_blocking_pids($1::int)) AS pid) b
LEFT JOIN pg_stat_activity a ON a.pid = b.pid
WHERE    b.pid = 0 OR a.pid IS NOT NULL
ORDER BY b.pid`;

/** Watches a session that migrates from a connection of its own, and tells every five seconds what it waits for. */
export class MigrationWatch {
  private readonly ended = new AbortController();
  private readonly watching: Promise<void>;
  private pid: number | undefined;
  private migration: string | undefined;
  private begunAtMs = performance.now();
  private isAtWork = true;
  private holders: readonly LockHolder[] | undefined = [];
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
    this.holders = [];
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
        const holders = await this.findHolders();
        if (signal.aborted) return;
        if (this.begunAtMs !== begunAtMs) continue;
        if (this.isAtWork) this.holders = holders;
      }
      const now = performance.now();
      if (now - Math.max(begunAtMs, toldAtMs) < TELL_EVERY_MS) continue;
      toldAtMs = now;
      this.onDelay({ migration, seconds: (now - begunAtMs) / 1_000, holders: this.holders });
    }
  }

  private async findHolders(): Promise<readonly LockHolder[] | undefined> {
    try {
      this.client ??= await this.connect();
      return (await this.client.query<LockHolder>(FIND_HOLDERS, [this.pid])).rows;
    } catch {
      void this.client?.end().catch(() => undefined);
      this.client = undefined;
      return undefined;
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

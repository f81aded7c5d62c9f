import type {
  DueFacts,
  InactiveSlot,
  LimitUsage,
  OpenTransaction,
  OutboxFacts,
  Ownership,
  PostgresFacts,
  PreparedTransaction,
  WithoutEditor,
} from '@posthorn/domain';
import { DatabaseClock, idFromUuid } from '@posthorn/kernel';
import pg from 'pg';
import { readOwnership } from './connection/ownership.ts';
import { SESSION_FORMATS } from './connection/session-setup.ts';
import type { SealedColumn } from './schema/sealed-columns.ts';
import {
  FIND_INACTIVE_SLOTS,
  FIND_LEFT_BEHIND,
  FIND_MISSING_PARTITIONS,
  FIND_OPEN_TRANSACTIONS,
  FIND_PREPARED_TRANSACTIONS,
  FIND_WITHOUT_EDITOR,
  READ_OUTBOX_TABLE,
  READ_SERVER,
  READ_TRACKING_URLS,
  readSealed,
  CHECK_DISK_SPACE,
} from './sql/examination.ts';
import { HIGHEST_USAGE } from './sql/usage.ts';
import { EraStore } from './stores/events/era-store.ts';
import { OutboxStore } from './stores/outbox/outbox-store.ts';
import type { PausedLane } from './stores/outbox/paused-lane-store.ts';
import { RateStore } from './stores/operators/rate-store.ts';
import type { SealedSecret } from './stores/sealed-secret-store.ts';
import { withVerifiedTls } from './connection/verified-tls.ts';

type PausedQueue = Omit<PausedLane, 'laneId'>;

/** Timeout of a query, so that an examination always ends. */
const ANSWER_TIMEOUT_MS = 8_000;
/** Sooner than a query ends, so that a lock is named as the reason. */
const LOCK_TIMEOUT_MS = 4_000;
/**
 * Also for how long a check waits until others have left it a connection: when tables are locked, two of them on each may take until their locks time out.
 * Less than the 15 s that a check has, so that a server that is silent is not taken for one that is slow.
 */
const CONNECTED_WITHIN_MS = 12_000;
/** Enough for concurrent checks, without taking connections from the apps. */
const CONNECTIONS = 3;
const MAX_SECRETS = 1_000;
const MAX_WORKSPACES = 100;

/**
 * A database that is only read: connecting changes nothing, even if it is not migrated or was restored.
 */
export class ExaminedDatabase {
  readonly eras: EraStore;
  readonly rates: RateStore;
  private readonly outbox: OutboxStore;
  private readonly pool: pg.Pool;

  constructor(url: string) {
    this.pool = new pg.Pool({
      connectionString: withVerifiedTls(url),
      max: CONNECTIONS,
      application_name: 'posthorn-doctor',
      connectionTimeoutMillis: CONNECTED_WITHIN_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      statement_timeout: ANSWER_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      // Not as a startup parameter: that would hide whether the server itself says so. The pool waits for what this returns, though its type does not say so.
      onConnect: (client) =>
        client.query(`SET default_transaction_read_only = on; ${SESSION_FORMATS}`) as unknown as void,
    });
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => client.on('error', () => undefined));
    const database = { pool: this.pool, clock: new DatabaseClock(), onEventsDue: () => undefined };
    this.eras = new EraStore(database);
    this.rates = new RateStore(database);
    this.outbox = new OutboxStore(database);
  }

  async readServer(): Promise<PostgresFacts> {
    return (await this.pool.query<PostgresFacts>(READ_SERVER)).rows[0]!;
  }

  /** Checks that the server's disk has some free space; leaves nothing behind. @throws 53100 when it is full */
  async checkDiskSpace(): Promise<void> {
    await this.pool.query(CHECK_DISK_SPACE);
  }

  /** By how much the clock of the server is ahead of this machine's, and the duration of the query. */
  async readClock(): Promise<{ offsetMs: number; roundTripMs: number }> {
    const client = await this.pool.connect();
    try {
      const [askedAt, begun] = [Date.now(), performance.now()];
      const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now');
      const roundTripMs = performance.now() - begun;
      return { offsetMs: rows[0]!.now.getTime() - askedAt - roundTripMs / 2, roundTripMs };
    } finally {
      client.release();
    }
  }

  /** The transactions of other sessions, the oldest first. */
  async findOpenTransactions(): Promise<OpenTransaction[]> {
    return (await this.pool.query<OpenTransaction>(FIND_OPEN_TRANSACTIONS)).rows;
  }

  /** The prepared transactions of all databases of the server, the oldest first. */
  async findPreparedTransactions(): Promise<PreparedTransaction[]> {
    return (await this.pool.query<PreparedTransaction>(FIND_PREPARED_TRANSACTIONS)).rows;
  }

  async findInactiveSlots(): Promise<InactiveSlot[]> {
    return (await this.pool.query<InactiveSlot>(FIND_INACTIVE_SLOTS)).rows;
  }

  async readOutboxTable(): Promise<OutboxFacts> {
    return (await this.pool.query<OutboxFacts>(READ_OUTBOX_TABLE)).rows[0]!;
  }

  readOwnership(): Promise<Ownership> {
    return readOwnership(this.pool);
  }

  /** The missing partitions of this and the next month. */
  async findMissingPartitions(): Promise<{ thisMonth: string[]; nextMonth: string[] }> {
    const { rows } = await this.pool.query<{ name: string; ahead: number }>(FIND_MISSING_PARTITIONS);
    const namesOf = (months: number): string[] =>
      rows.filter(({ ahead }) => ahead === months).map(({ name }) => name);
    return { thisMonth: namesOf(0), nextMonth: namesOf(1) };
  }

  async findDue(): Promise<DueFacts> {
    const backlog = await this.outbox.measureBacklog();
    const { rows } =
      await this.pool.query<Pick<DueFacts, 'overdueSeconds' | 'leasedAndExpired'>>(FIND_LEFT_BEHIND);
    return { ...rows[0]!, backlog };
  }

  /** The queues that are paused as a whole, the longest first. */
  async listPausedQueues(): Promise<PausedQueue[]> {
    const sql = `SELECT queue, reason, paused_at AS "pausedAt" FROM paused_lanes WHERE lane_id = '*' ORDER BY paused_at, queue`;
    return (await this.pool.query<PausedQueue>(sql)).rows;
  }

  async findWithoutEditor(): Promise<WithoutEditor> {
    const { rows } = await this.pool.query<{ count: number; first: string | null }>(FIND_WITHOUT_EDITOR);
    const { count, first } = rows[0]!;
    return { count, first: first === null ? null : idFromUuid('wrk', first) };
  }

  /** The hundred workspaces that have used the highest shares of their limits in this month, the highest first. */
  async findHighestUsage(): Promise<LimitUsage[]> {
    const { rows } = await this.pool.query<{ workspaceId: string; used: number; limit: number }>(
      HIGHEST_USAGE,
      [MAX_WORKSPACES],
    );
    return rows.map((row) => ({ ...row, workspaceId: idFromUuid('wrk', row.workspaceId) }));
  }

  /** Some tracking URLs of workspaces, each once. */
  async readTrackingUrls(limit: number): Promise<string[]> {
    const { rows } = await this.pool.query<{ url: string }>(READ_TRACKING_URLS, [limit]);
    return rows.map(({ url }) => url);
  }

  /** The newest thousand secrets of a column, encrypted. */
  async readSealed({ table, column }: SealedColumn): Promise<SealedSecret[]> {
    return (await this.pool.query<SealedSecret>(readSealed(table, column), [MAX_SECRETS])).rows;
  }

  close(): Promise<void> {
    return this.pool.end();
  }
}

import type { LaneId } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import {
  BACKLOG_OF_LANES,
  BUSIEST_LANES,
  EMAILS_BY_MINUTE,
  PAUSED_LANES,
  STATE_OF_THINGS,
  WAITING_RETRIES,
} from '../../sql/overview.ts';
import type { OutboxQueue } from '../outbox/claim.ts';
import type { PausedLane } from '../outbox/paused-lane-store.ts';

/** The emails of one minute. */
export interface MinuteOfEmails {
  readonly minute: Date;
  readonly accepted: number;
  /** How many of these bounced or failed. */
  readonly failed: number;
}

interface StateOfThings {
  /** Slow receivers. */
  readonly slowLanes: number;
  readonly failingWebhooks: number;
  readonly postgresVersion: string;
}

/** How much waits for its next attempt after one that failed; that is not due. */
export interface WaitingRetries {
  readonly byQueue: ReadonlyMap<OutboxQueue, number>;
  /** Whether there may be more of each. */
  readonly hasMore: boolean;
}

/** A lane, and the work that is due in it. */
export interface BusyLane {
  readonly queue: OutboxQueue;
  readonly laneId: LaneId;
  /** The number of due rows, counted up to {@link MAX_ROWS_COUNTED}. */
  readonly due: number;
  readonly oldestDueSeconds: number;
  readonly isPaused: boolean;
  /** Whether its receiver is slow. */
  readonly isSlow: boolean;
}

/** How many rows of a lane are counted. */
export const MAX_ROWS_COUNTED = 1_000;
/** How many rows that wait are read. */
const MAX_WAITING_READ = 10_000;
const BUSY_LANES_SHOWN = 8;
const PAUSED_SHOWN = 20;

/** Of an hour with more emails, only the last ones are counted. */
const MAX_EMAILS = 200_000;

/** The paused lanes, or the first of them. */
export interface PausedLanes {
  readonly items: readonly PausedLane[];
  readonly hasMore: boolean;
}

/** The overview for operators, over all workspaces. */
export class OverviewStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Minutes of the last hour in which emails were accepted, the oldest first. */
  async emailsByMinute(): Promise<MinuteOfEmails[]> {
    return (await this.database.pool.query<MinuteOfEmails>(EMAILS_BY_MINUTE, [MAX_EMAILS])).rows;
  }

  async waitingRetries(): Promise<WaitingRetries> {
    const { rows } = await this.database.pool.query<{
      queue: OutboxQueue;
      retries: number;
      hasMore: boolean;
    }>(WAITING_RETRIES, [MAX_WAITING_READ]);
    const byQueue = new Map(rows.map(({ queue, retries }) => [queue, retries]));
    return { byQueue, hasMore: rows.some(({ hasMore }) => hasMore) };
  }

  /** Those with the most due rows among the lanes that have waited longest. */
  async busiestLanes(): Promise<BusyLane[]> {
    const values = [BUSY_LANES_SHOWN, MAX_ROWS_COUNTED];
    return (await this.database.pool.query<BusyLane>(BUSIEST_LANES, values)).rows;
  }

  /** What is due in these lanes, in their order. */
  async backlogOf(lanes: readonly Pick<BusyLane, 'queue' | 'laneId'>[]): Promise<BusyLane[]> {
    const values = [lanes.map(({ queue }) => queue), lanes.map(({ laneId }) => laneId), MAX_ROWS_COUNTED];
    return (await this.database.pool.query<BusyLane>(BACKLOG_OF_LANES, values)).rows;
  }

  /** Paused lanes: whole queues first, webhooks last. */
  async pausedLanes(): Promise<PausedLanes> {
    const { rows } = await this.database.pool.query<PausedLane>(PAUSED_LANES, [PAUSED_SHOWN + 1]);
    return { items: rows.slice(0, PAUSED_SHOWN), hasMore: rows.length > PAUSED_SHOWN };
  }

  async stateOfThings(): Promise<StateOfThings> {
    return (await this.database.pool.query<StateOfThings>(STATE_OF_THINGS)).rows[0]!;
  }
}

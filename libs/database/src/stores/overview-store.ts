import type { LaneId } from '@posthorn/domain';
import type { Database } from '../connection.ts';
import { BUSIEST_LANES, EMAILS_BY_MINUTE, LANES_HELD_BACK, STATE_OF_THINGS } from '../sql/overview.ts';
import type { OutboxQueue } from './claim.ts';
import type { PausedLane } from './paused-lane-store.ts';

/** The emails of one minute. */
export interface MinuteOfEmails {
  readonly minute: Date;
  readonly accepted: number;
  /** Of these, bounced or given up. */
  readonly failed: number;
}

interface StateOfThings {
  /** Receivers that keep us waiting. */
  readonly slowLanes: number;
  readonly failingWebhooks: number;
  readonly postgresVersion: string;
}

/** A lane with work that is due. */
export interface BusyLane {
  readonly queue: OutboxQueue;
  readonly laneId: LaneId;
  /** Rows that are due: {@link MAX_ROWS_COUNTED} stands for so many or more. */
  readonly due: number;
  readonly oldestDueSeconds: number;
  readonly isHeldBack: boolean;
}

/** How many rows of a lane are counted. */
export const MAX_ROWS_COUNTED = 1_000;
const BUSY_LANES_SHOWN = 8;
const HELD_BACK_SHOWN = 20;

/** Of an hour with more emails than these only the end is shown. */
const MAX_EMAILS = 200_000;

/** The lanes that are held back, or the first of them. */
export interface LanesHeldBack {
  readonly items: readonly PausedLane[];
  readonly hasMore: boolean;
}

/** What operators see first, over all workspaces. */
export class OverviewStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Minutes of the last hour in which emails were accepted, the oldest first. */
  async emailsByMinute(): Promise<MinuteOfEmails[]> {
    return (await this.database.pool.query<MinuteOfEmails>(EMAILS_BY_MINUTE, [MAX_EMAILS])).rows;
  }

  /** The lanes with the most due, of those that wait longest. */
  async busiestLanes(): Promise<BusyLane[]> {
    const values = [BUSY_LANES_SHOWN, MAX_ROWS_COUNTED];
    return (await this.database.pool.query<BusyLane>(BUSIEST_LANES, values)).rows;
  }

  /** What is held back: what is so as a whole first, webhooks last. */
  async lanesHeldBack(): Promise<LanesHeldBack> {
    const { rows } = await this.database.pool.query<PausedLane>(LANES_HELD_BACK, [HELD_BACK_SHOWN + 1]);
    return { items: rows.slice(0, HELD_BACK_SHOWN), hasMore: rows.length > HELD_BACK_SHOWN };
  }

  async stateOfThings(): Promise<StateOfThings> {
    return (await this.database.pool.query<StateOfThings>(STATE_OF_THINGS)).rows[0]!;
  }
}

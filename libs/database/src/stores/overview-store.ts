import { type Database } from '../connection.ts';
import { EMAILS_BY_MINUTE, STATE_OF_THINGS } from '../sql/overview.ts';

/** The emails of one minute. */
export interface MinuteOfEmails {
  readonly minute: Date;
  readonly accepted: number;
  /** Of these, bounced or given up. */
  readonly failed: number;
}

export interface StateOfThings {
  /** Receivers that let us wait. */
  readonly slowLanes: number;
  readonly failingWebhooks: number;
  readonly postgresVersion: string;
}

/** Who looks at an hour with more emails than these sees the end of it. */
const MOST_EMAILS = 200_000;

/** What operators see first, over all workspaces. */
export class OverviewStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** Minutes of the last hour in which emails were accepted, the oldest first. */
  async emailsByMinute(): Promise<MinuteOfEmails[]> {
    return (await this.database.pool.query<MinuteOfEmails>(EMAILS_BY_MINUTE, [MOST_EMAILS])).rows;
  }

  async stateOfThings(): Promise<StateOfThings> {
    return (await this.database.pool.query<StateOfThings>(STATE_OF_THINGS)).rows[0]!;
  }
}

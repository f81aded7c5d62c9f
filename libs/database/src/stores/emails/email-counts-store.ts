import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus } from '@posthorn/domain';
import type pg from 'pg';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import type { Database } from '../../connection/connection.ts';
import { countEmailsByDay, countEngagementsByDay } from '../../sql/email-counts.ts';

/** How many days one statement counts; fewer where a workspace has so many emails that it times out. */
const DAYS_PER_STATEMENT = 7;
const DAY_MS = 86_400_000;

/** The number of emails of a day with a status. */
export interface DayCount {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly status: EmailStatus;
  readonly count: number;
}

/** How many emails of a day were opened by people, and in how many they clicked a link. */
export interface DayEngagement {
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  readonly opened: number;
  readonly clicked: number;
}

/** Which emails are counted: those accepted from the first to the last day (UTC), inclusive. */
export interface CountedEmails {
  readonly workspaceId: WorkspaceId;
  readonly groupBy: string | undefined;
  readonly firstDay: Date;
  readonly lastDay: Date;
}

/** Counts of emails by day. */
export class EmailCountsStore {
  private readonly daysTogether = new AdaptiveGroupSize();

  constructor(private readonly database: Database) {}

  /** The number of emails by day and status; days and statuses without emails are absent. */
  count(wanted: CountedEmails): Promise<DayCount[]> {
    return this.counted<DayCount>(countEmailsByDay(wanted.groupBy !== undefined), wanted);
  }

  /** The number of opened and clicked emails by day; days without any are absent. */
  countEngagements(wanted: CountedEmails): Promise<DayEngagement[]> {
    return this.counted<DayEngagement>(countEngagementsByDay(wanted.groupBy !== undefined), wanted);
  }

  private async counted<Row extends pg.QueryResultRow>(
    text: string,
    { workspaceId, groupBy, firstDay, lastDay }: CountedEmails,
  ): Promise<Row[]> {
    const found: Row[] = [];
    const end = lastDay.getTime();
    for (let from = firstDay.getTime(); from <= end;) {
      const { rows, to } = await this.daysTogether.run(DAYS_PER_STATEMENT, async (days) => {
        const to = Math.min(from + (days - 1) * DAY_MS, end);
        const values = [uuidOf(workspaceId), dayOf(from), dayOf(to), groupBy ?? null];
        return { rows: (await this.database.pool.query<Row>(text, values)).rows, to };
      });
      found.push(...rows);
      from = to + DAY_MS;
    }
    return found;
  }
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

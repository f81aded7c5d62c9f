import { FairConcurrencyLimit, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { CountedEmails, DayCount, DayEngagement, EmailCountsStore } from '@posthorn/database';

/**
 * A count takes time, and a connection, in proportion to the number of emails; counts must not take the connections that accepting needs.
 * One workspace waits for its own counts only, not for those of others.
 */
const COUNTS = {
  maxConcurrent: 2,
  maxWaiting: 25,
  refusal: () =>
    new Refusal(503, 'Too many emails are being counted; try again in a few seconds', {
      retryAfterSeconds: 5,
    }),
};

/** The counts by day; days without any are absent. */
export interface EmailsCounted {
  readonly statuses: readonly DayCount[];
  readonly engagements: readonly DayEngagement[];
}

/** Counts emails by day. */
export class CountEmails {
  private readonly counts = new FairConcurrencyLimit<WorkspaceId>(COUNTS);

  constructor(private readonly store: Pick<EmailCountsStore, 'count' | 'countEngagements'>) {}

  /**
   * By status, and how many were opened and clicked.
   *
   * @param gone is aborted when the caller has gone: a count that would have to wait is refused then
   * @throws Refusal 503 when too many of the workspace are waiting
   */
  count(wanted: CountedEmails, gone?: AbortSignal): Promise<EmailsCounted> {
    return this.counts.run(wanted.workspaceId, () => this.counted(wanted), gone);
  }

  private async counted(wanted: CountedEmails): Promise<EmailsCounted> {
    const statuses = await this.store.count(wanted);
    return { statuses, engagements: await this.store.countEngagements(wanted) };
  }
}

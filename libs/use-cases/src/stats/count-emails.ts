import { ConcurrencyLimit, Refusal } from '@posthorn/kernel';
import type { CountedEmails, DayCount, DayEngagement, EmailCountsStore } from '@posthorn/database';

/** A count takes as long as there are emails to count, and a connection with it: they must not take those of accepting. */
const COUNTS = {
  maxConcurrent: 2,
  maxWaiting: 50,
  refusal: () =>
    new Refusal(503, 'Too many emails are being counted; try again in some seconds', {
      retryAfterSeconds: 5,
    }),
};

/** What was counted of each day; days of which there is nothing are absent. */
export interface EmailsCounted {
  readonly statuses: readonly DayCount[];
  readonly engagements: readonly DayEngagement[];
}

/** Counts emails by day. */
export class CountEmails {
  private readonly counts = new ConcurrencyLimit(COUNTS);

  constructor(private readonly store: Pick<EmailCountsStore, 'count' | 'countEngagements'>) {}

  /** By status, and what was opened and clicked. @throws Refusal 503 when too many wait */
  count(wanted: CountedEmails): Promise<EmailsCounted> {
    return this.counts.run(() => this.counted(wanted));
  }

  private async counted(wanted: CountedEmails): Promise<EmailsCounted> {
    const statuses = await this.store.count(wanted);
    return { statuses, engagements: await this.store.countEngagements(wanted) };
  }
}

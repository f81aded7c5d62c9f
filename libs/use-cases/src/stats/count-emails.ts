import { FewAtOnce } from '@posthorn/kernel';
import { type CountedEmails, type DayCount, type EmailCountsStore } from '@posthorn/database';
import { orUnavailable } from '../accept/refusals.ts';

/** A count takes as long as there are emails to count, and a connection with it: they must not take those of accepting. */
const COUNTS = { atOnce: 2, mostWaiting: 50 };
const BUSY = {
  message: 'Too many emails are being counted; try again in some seconds',
  retryAfterSeconds: 5,
};

/** Counts emails by day and status. */
export class CountEmails {
  private readonly counts = new FewAtOnce({ ...COUNTS, refusal: BUSY });

  constructor(private readonly store: Pick<EmailCountsStore, 'count'>) {}

  /** Days and statuses without emails are absent. @throws Refusal 503 when too many wait, or the database is out of reach */
  count(wanted: CountedEmails): Promise<DayCount[]> {
    return this.counts.run(() => orUnavailable(this.store.count(wanted)));
  }
}

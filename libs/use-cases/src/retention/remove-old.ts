import { sleep } from '@posthorn/kernel';
import type { Retention, RetentionSubject } from '@posthorn/domain';
import type { RetentionStore } from '@posthorn/database';

const GROUP = 500;
/** Dropping a month takes exclusive locks; further ones are dropped an hour later. */
const MAX_MONTHS = 12;

/**
 * Removes data whose retention has expired. Emails that are due or paused are kept. Safe to interrupt, to run twice, and to run
 * concurrently.
 */
export class RemoveOld {
  constructor(
    private readonly store: Pick<RetentionStore, 'longest' | 'dropOldEmails' | 'openRounds' | 'removeGroup'>,
    /** The retention of workspaces that have none of their own. */
    private readonly common: Retention,
  ) {}

  /** The longest retention of events, in days. */
  async longestEventDays(): Promise<number> {
    return (await this.store.longest(this.common)).eventDays;
  }

  /** Drops the monthly tables of emails that are past the retention of every workspace, one at a time. @returns how many tables */
  async dropMonths(): Promise<number> {
    await this.store.openRounds(this.common);
    const longest = await this.store.longest(this.common);
    let dropped = 0;
    for (let months = 0; months < MAX_MONTHS; months += 1) {
      const tables = await this.store.dropOldEmails(longest);
      if (tables === 0) break;
      dropped += tables;
    }
    return dropped;
  }

  /**
   * Removes data of workspaces with a shorter retention than the monthly tables, in groups; after each group it pauses for as long as that
   * took.
   *
   * @param ms no group is started after this time
   * @returns how many were removed of each
   */
  async removeWithin(ms: number): Promise<Record<RetentionSubject, number>> {
    const removed = { content: 0, metadata: 0, events: 0 };
    const begunAt = performance.now();
    while (performance.now() - begunAt < ms) {
      const groupAt = performance.now();
      const group = await this.store.removeGroup(this.common, GROUP);
      if (group === undefined) break;
      removed[group.subject] += group.removed;
      await sleep(performance.now() - groupAt);
    }
    return removed;
  }
}

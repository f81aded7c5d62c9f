import { sleep } from '@posthorn/kernel';
import type { Retention, RetentionSubject } from '@posthorn/domain';
import type { RetentionStore } from '@posthorn/database';

const GROUP = 500;
/** Each month takes its locks once; what is left is dropped an hour later. */
const MAX_MONTHS = 12;

/** Removes what is past its time. What is due, or held for its receiver, stays. Safe to break off, to run twice, and at once. */
export class RemoveOld {
  constructor(
    private readonly store: Pick<RetentionStore, 'longest' | 'dropOldEmails' | 'openRounds' | 'removeGroup'>,
    /** What workspaces keep that have no days of their own. */
    private readonly common: Retention,
  ) {}

  /** For how long the months of events are kept. */
  async longestEventDays(): Promise<number> {
    return (await this.store.longest(this.common)).eventDays;
  }

  /** Drops the months of emails that are past the time of every workspace, one after the other; says how many tables there were. */
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
   * Removes what workspaces keep for less long than the months are, group by group; after each it rests for as long as that took.
   *
   * @param ms no group begins after this time
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

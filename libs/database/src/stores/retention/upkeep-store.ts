import type { Database } from '../../connection/connection.ts';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import { EXPIRE_HELD_DELIVERIES, PUT_BACK_DELIVERIES } from '../../sql/deliveries.ts';
import { EXPIRE_IDEMPOTENCY_KEYS, EXPIRE_INVITATIONS, EXPIRE_VERIFICATION_LINKS } from '../../sql/upkeep.ts';

/**
 * What must be done now and then to keep everything else going. All of it may run twice, even at the same time. Where `limit` keys or deliveries take too
 * long, fewer are processed.
 */
export class UpkeepStore {
  private readonly sizes = {
    keys: new AdaptiveGroupSize(),
    held: new AdaptiveGroupSize(),
    putBack: new AdaptiveGroupSize(),
  };

  constructor(private readonly database: Database) {}

  /** Deletes up to `limit` idempotency keys that have expired; says how many. */
  expireIdempotencyKeys(limit: number): Promise<number> {
    return this.sizes.keys.run(limit, (max) => this.countOf(EXPIRE_IDEMPOTENCY_KEYS, [max]));
  }

  /** Deletes up to `limit` invitations whose last link ended so many days ago; says how many. */
  expireInvitations(days: number, limit: number): Promise<number> {
    return this.countOf(EXPIRE_INVITATIONS, [`${days} days`, limit]);
  }

  /** Deletes up to `limit` verification links that were made so many seconds ago, and so count for no limit any more; says how many. */
  expireVerificationLinks(seconds: number, limit: number): Promise<number> {
    return this.countOf(EXPIRE_VERIFICATION_LINKS, [`${seconds} s`, limit]);
  }

  /** Makes the monthly partitions up to so many months ahead; says how many were missing. */
  async makePartitions(monthsAhead: number): Promise<number> {
    const { rows } = await this.database.pool.query<{ made: number }>('SELECT make_partitions($1) AS made', [
      monthsAhead,
    ]);
    return rows[0]!.made;
  }

  /**
   * Drops the events of the oldest month that ended so many days ago, and what became of them. A month stays while something that was made in it is due,
   * or while a delivery of it was exhausted within `exhaustedDays`, but for `maxDays` at most.
   *
   * @returns how many partitions there were; 0: there is nothing to drop
   * @throws when somebody else has them for longer than half a second
   */
  async dropOldEvents(keptDays: number, exhaustedDays: number, maxDays: number): Promise<number> {
    const { rows } = await this.database.pool.query<{ dropped: number }>(
      'SELECT drop_old_events($1, $2, $3) AS dropped',
      [keptDays, exhaustedDays, maxDays],
    );
    return rows[0]!.dropped;
  }

  /** Gives up as many as `limit` deliveries that have been held for so many days; says how many. */
  expireHeldDeliveries(days: number, limit: number): Promise<number> {
    return this.sizes.held.run(limit, (max) => this.countOf(EXPIRE_HELD_DELIVERIES, [`${days} days`, max]));
  }

  /** Makes up to `limit` exhausted deliveries, and as many that wait for a retry, due again, of one webhook that is no longer disabled; says how many; undefined: there is no such webhook. */
  async putBackDeliveries(limit: number): Promise<number | undefined> {
    const { rows } = await this.sizes.putBack.run(limit, (max) =>
      this.database.pool.query<{ putBack: number }>(PUT_BACK_DELIVERIES, [max]),
    );
    return rows[0]?.putBack;
  }

  private async countOf(statement: string, values: unknown[]): Promise<number> {
    return (await this.database.pool.query(statement, values)).rowCount ?? 0;
  }
}

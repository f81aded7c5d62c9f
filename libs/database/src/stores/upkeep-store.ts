import type { Database } from '../connection.ts';
import { EXPIRE_HELD_DELIVERIES, PUT_BACK_DELIVERIES } from '../sql/deliveries.ts';
import { EXPIRE_IDEMPOTENCY_KEYS, EXPIRE_INVITATIONS } from '../sql/upkeep.ts';

/** What has to be done now and then so that everything else can go on. All of it may run twice, and at once. */
export class UpkeepStore {
  constructor(private readonly database: Database) {}

  /** Deletes up to `limit` idempotency keys that have expired; says how many. */
  async expireIdempotencyKeys(limit: number): Promise<number> {
    const { rowCount } = await this.database.pool.query(EXPIRE_IDEMPOTENCY_KEYS, [limit]);
    return rowCount ?? 0;
  }

  /** Deletes up to `limit` invitations whose last link ended so many days ago; says how many. */
  async expireInvitations(days: number, limit: number): Promise<number> {
    const { rowCount } = await this.database.pool.query(EXPIRE_INVITATIONS, [days, limit]);
    return rowCount ?? 0;
  }

  /** Makes the monthly partitions up to so many months ahead; says how many were missing. */
  async makePartitions(monthsAhead: number): Promise<number> {
    const { rows } = await this.database.pool.query<{ made: number }>('SELECT make_partitions($1) AS made', [
      monthsAhead,
    ]);
    return rows[0]!.made;
  }

  /**
   * Drops the events of the oldest month that ended so many days ago, and what became of them. A month in which something due was made stays, and
   * one with a delivery that was exhausted in the last days, for so many days at most.
   *
   * @returns how many partitions there were; 0: there is nothing to drop
   * @throws when somebody else has them for longer than half a second
   */
  async dropOldEvents(keptDays: number, exhaustedDays: number, mostDays: number): Promise<number> {
    const { rows } = await this.database.pool.query<{ dropped: number }>(
      'SELECT drop_old_events($1, $2, $3) AS dropped',
      [keptDays, exhaustedDays, mostDays],
    );
    return rows[0]!.dropped;
  }

  /** Gives up to `limit` deliveries up that have been held for so many days; says how many. */
  async expireHeldDeliveries(days: number, limit: number): Promise<number> {
    const { rowCount } = await this.database.pool.query(EXPIRE_HELD_DELIVERIES, [`${days} days`, limit]);
    return rowCount ?? 0;
  }

  /** Puts up to `limit` exhausted deliveries of one webhook back that is not disabled any more; undefined: there is no such webhook. */
  async putBackDeliveries(limit: number): Promise<number | undefined> {
    const { rows } = await this.database.pool.query<{ putBack: number }>(PUT_BACK_DELIVERIES, [limit]);
    return rows[0]?.putBack;
  }
}

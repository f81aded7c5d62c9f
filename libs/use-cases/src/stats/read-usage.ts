import type { DatabaseClock, WorkspaceId } from '@posthorn/kernel';
import { startOfMonth, startOfNextMonth } from '@posthorn/domain';
import type { UsageStore } from '@posthorn/database';

interface ReadUsageOptions {
  readonly usage: Pick<UsageStore, 'read'>;
  readonly clock: DatabaseClock;
  /** Emails per month of a workspace without a limit of its own; null: no limit. */
  readonly monthlyLimit: number | null;
}

/** How much of its monthly limit a workspace has used. */
interface MonthlyUsage {
  /** The first day of the month (UTC). */
  readonly month: Date;
  readonly used: number;
  /** null: none. */
  readonly limit: number | null;
  /** null: any number. */
  readonly remaining: number | null;
  /** The beginning of the next month. */
  readonly resetsAt: Date;
}

/** Reads what the monthly limit is checked against. */
export class ReadUsage {
  constructor(private readonly options: ReadUsageOptions) {}

  /** Of the current month, by the clock of the database. */
  async read(workspaceId: WorkspaceId): Promise<MonthlyUsage> {
    const { usage, clock, monthlyLimit } = this.options;
    const now = clock.now();
    const month = startOfMonth(now);
    const { used, ownLimit } = await usage.read(workspaceId, month);
    // A workspace's own limit of 0 means none.
    const limit = (ownLimit ?? monthlyLimit) || null;
    // After the limit was lowered, more may be used than it allows.
    const remaining = limit === null ? null : Math.max(limit - used, 0);
    return { month, used, limit, remaining, resetsAt: startOfNextMonth(now) };
  }
}

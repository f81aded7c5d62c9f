import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Database } from '../../connection/connection.ts';
import { HIGHEST_USAGE } from '../../sql/usage.ts';

/** What a workspace has used of a month. */
interface UsedInMonth {
  /** The emails that count towards the monthly limit. */
  readonly used: number;
  /** The workspace's own monthly limit, where 0 means none; null: the installation's. */
  readonly ownLimit: number | null;
}

/** How many emails of a month count towards the limits of workspaces. */
export class UsageStore {
  constructor(private readonly database: Database) {}

  /** @param month its first day (UTC) */
  async read(workspaceId: WorkspaceId, month: Date): Promise<UsedInMonth> {
    const { prisma } = this.database;
    const id = uuidOf(workspaceId);
    const [usage, workspace] = await Promise.all([
      prisma.usage.findFirst({ where: { workspaceId: id, month } }),
      prisma.workspace.findFirstOrThrow({ where: { id } }),
    ]);
    return { used: usage?.accepted ?? 0, ownLimit: workspace.monthlyEmailLimit };
  }

  /** The highest share of its monthly limit that a workspace has used in the current month; 0: none with a limit has used any. */
  async highestShare(): Promise<number> {
    const { rows } = await this.database.pool.query<{ used: number; limit: number }>(HIGHEST_USAGE, [1]);
    return rows[0] === undefined ? 0 : rows[0].used / rows[0].limit;
  }
}

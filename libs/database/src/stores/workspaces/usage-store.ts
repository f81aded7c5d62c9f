import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Database } from '../../connection/connection.ts';

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
}

import { idFromUuid, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  type LimitOverrides,
  type Page,
  pageOf,
  type PageRequest,
  type RetentionOverrides,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { Workspace as WorkspaceRow } from '../../generated/client.ts';
import { changeWorkspace, transact } from '../../transactions/transaction.ts';
import { prismaPage } from '../prisma-page.ts';
import { recordAudit } from './audit-log-store.ts';

/** Settings of a workspace's own; null: the installation's. */
interface Own extends LimitOverrides, RetentionOverrides {
  /** Whether events of its emails are recorded even if no webhook is subscribed to them. */
  readonly recordsAllEvents: boolean;
  /** The tracking URL of its emails, without a trailing slash. */
  readonly trackingUrl: string | null;
}

export interface Workspace extends Own {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly createdAt: Date;
}

/** The workspaces of the installation. */
export class WorkspaceStore {
  constructor(private readonly database: Database) {}

  /** Creates a workspace, and records it in its audit log. */
  create(actor: Actor, name: string, monthlyEmailLimit: number | null): Promise<Workspace> {
    const nowMs = this.database.clock.nowMs();
    const own = { name, monthlyEmailLimit };
    return transact(this.database, async (transaction) => {
      const created = workspaceOf(
        await transaction.workspace.create({ data: { id: newUuid(nowMs), ...own } }),
      );
      await recordAudit(transaction, nowMs, {
        workspaceId: created.id,
        subjectId: created.id,
        actor,
        action: 'workspace.created',
        detail: own,
      });
      return created;
    });
  }

  /** The workspaces of customers, the oldest first. @param limit the maximum number; absent: all */
  async list(limit?: number): Promise<Workspace[]> {
    const rows = await this.database.prisma.workspace.findMany({
      where: { isSystem: false },
      orderBy: { id: 'asc' },
      ...(limit !== undefined && { take: limit }),
    });
    return rows.map(workspaceOf);
  }

  /** A page of the workspaces of customers whose names contain `name`, in any letter case. Index: workspaces_pkey, in its order; there are few enough to filter. */
  async page(page: PageRequest<WorkspaceId>, name = ''): Promise<Page<Workspace>> {
    const where = { isSystem: false, name: { contains: likeLiteral(name), mode: 'insensitive' as const } };
    const rows = await this.database.prisma.workspace.findMany(prismaPage(page, where));
    return pageOf(rows.map(workspaceOf), page.limit);
  }

  async find(id: WorkspaceId): Promise<Workspace | undefined> {
    const row = await this.database.prisma.workspace.findFirst({ where: { id: uuidOf(id) } });
    return row === null ? undefined : workspaceOf(row);
  }

  /** Those of the given workspaces that exist. */
  async findMany(ids: readonly WorkspaceId[]): Promise<Workspace[]> {
    const where = { id: { in: ids.map(uuidOf) } };
    return (await this.database.prisma.workspace.findMany({ where })).map(workspaceOf);
  }

  /** Changes the given settings, and records the changes in the audit log; undefined: there is no such workspace. */
  change(
    id: WorkspaceId,
    actor: Actor,
    action: `workspace.${'limits' | 'recording' | 'retention' | 'tracking'}_changed`,
    own: Partial<Own>,
  ): Promise<Workspace | undefined> {
    return changeWorkspace(this.database, id, async (transaction) => {
      const where = { id: uuidOf(id) };
      const before = await transaction.workspace.findFirst({ where });
      if (before === null) return undefined;
      const changes = changesOf(before, own);
      if (Object.keys(changes).length === 0) return workspaceOf(before);
      const after = await transaction.workspace.update({ where, data: changes });
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId: id,
        subjectId: id,
        actor,
        action,
        detail: { ...changes },
      });
      return workspaceOf(after);
    });
  }
}

/** Prisma does not escape what has a meaning in a pattern of LIKE. */
function likeLiteral(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}

function changesOf(before: WorkspaceRow, own: Partial<Own>): Partial<Own> {
  const given = Object.entries(own) as [keyof Own, Own[keyof Own]][];
  return Object.fromEntries(given.filter(([name, value]) => value !== before[name]));
}

function workspaceOf(row: WorkspaceRow): Workspace {
  const { name, monthlyEmailLimit, ratePerSecond, rateBurst, createdAt } = row;
  const { contentDays, metadataDays, eventDays, recordsAllEvents, trackingUrl } = row;
  const limits = { monthlyEmailLimit, ratePerSecond, rateBurst };
  const retention = { contentDays, metadataDays, eventDays };
  return {
    id: idFromUuid('wrk', row.id),
    name,
    ...limits,
    ...retention,
    recordsAllEvents,
    trackingUrl,
    createdAt,
  };
}

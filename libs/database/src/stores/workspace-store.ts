import { idFromUuid, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, type OwnLimits } from '@posthorn/domain';
import { type Database } from '../connection.ts';
import { type Workspace as WorkspaceRow } from '../generated/client.ts';
import { lockWorkspace, transact } from '../transaction.ts';
import { recordAudit } from './audit-log-store.ts';

export interface Workspace extends OwnLimits {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly createdAt: Date;
}

/** The workspaces of the installation. */
export class WorkspaceStore {
  constructor(private readonly database: Database) {}

  async create(name: string, monthlyEmailLimit: number | null): Promise<Workspace> {
    const id = newUuid(this.database.clock.nowMs());
    return workspace(await this.database.prisma.workspace.create({ data: { id, name, monthlyEmailLimit } }));
  }

  /** All of the customers, the oldest first. */
  async list(): Promise<Workspace[]> {
    const rows = await this.database.prisma.workspace.findMany({
      where: { isSystem: false },
      orderBy: { id: 'asc' },
    });
    return rows.map(workspace);
  }

  async find(id: WorkspaceId): Promise<Workspace | undefined> {
    const row = await this.database.prisma.workspace.findUnique({ where: { id: uuidOf(id) } });
    return row === null ? undefined : workspace(row);
  }

  /** Changes the limits that are given, and tells the audit log what has changed; undefined: there is no such workspace. */
  changeLimits(id: WorkspaceId, actor: Actor, limits: Partial<OwnLimits>): Promise<Workspace | undefined> {
    return transact(this.database, async (transaction) => {
      await lockWorkspace(transaction, id);
      const where = { id: uuidOf(id) };
      const before = await transaction.workspace.findUnique({ where });
      if (before === null) return undefined;
      const changes = changesOf(before, limits);
      if (Object.keys(changes).length === 0) return workspace(before);
      const after = await transaction.workspace.update({ where, data: changes });
      await recordAudit(transaction, this.database.clock.nowMs(), {
        ...{ workspaceId: id, subjectId: id, actor },
        action: 'workspace.limits_changed',
        detail: { ...changes },
      });
      return workspace(after);
    });
  }
}

function changesOf(before: WorkspaceRow, limits: Partial<OwnLimits>): Partial<OwnLimits> {
  const given = Object.entries(limits) as [keyof OwnLimits, number | null][];
  return Object.fromEntries(given.filter(([name, limit]) => limit !== before[name]));
}

function workspace(row: WorkspaceRow): Workspace {
  const { name, monthlyEmailLimit, ratePerSecond, rateBurst, createdAt } = row;
  return { id: idFromUuid('wrk', row.id), name, monthlyEmailLimit, ratePerSecond, rateBurst, createdAt };
}

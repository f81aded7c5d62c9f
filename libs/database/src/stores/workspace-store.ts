import { idFromUuid, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Database } from '../connection.ts';
import { type Workspace as WorkspaceRow } from '../generated/client.ts';

export interface Workspace {
  readonly id: WorkspaceId;
  readonly name: string;
  /** Accepted emails a month; null: the installation's limit; 0: none. */
  readonly monthlyEmailLimit: number | null;
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
}

function workspace(row: WorkspaceRow): Workspace {
  const { name, monthlyEmailLimit, createdAt } = row;
  return { id: idFromUuid('wrk', row.id), name, monthlyEmailLimit, createdAt };
}

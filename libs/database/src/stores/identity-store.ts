import { idFromUuid, type IdentityId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Database } from '../connection.ts';
import { type Identity as IdentityRow, type IdentityKind } from '../generated/client.ts';

/** An address or a domain that a workspace may send from once it is verified. */
export interface Identity {
  readonly id: IdentityId;
  readonly workspaceId: WorkspaceId;
  readonly kind: IdentityKind;
  readonly value: string;
  readonly verifiedAt: Date | null;
  readonly createdAt: Date;
}

/** How many addresses and domains are named in the answer to a call from an unverified sender. */
const MOST_NAMED = 100;

/** The verified addresses and domains of workspaces. */
export class IdentityStore {
  constructor(private readonly database: Database) {}

  /** Adds an identity, or verifies the one that is there already. */
  async put(
    workspaceId: WorkspaceId,
    kind: IdentityKind,
    value: string,
    verified: boolean,
  ): Promise<Identity> {
    const verifiedAt = verified ? this.database.clock.now() : null;
    const workspace = uuidOf(workspaceId);
    const row = await this.database.prisma.identity.upsert({
      where: { workspaceId_value: { workspaceId: workspace, value } },
      create: { id: newUuid(this.database.clock.nowMs()), workspaceId: workspace, kind, value, verifiedAt },
      update: verified ? { verifiedAt } : {},
    });
    return identity(row);
  }

  /** All of a workspace, the oldest first. */
  async list(workspaceId: WorkspaceId): Promise<Identity[]> {
    const rows = await this.database.prisma.identity.findMany({
      where: { workspaceId: uuidOf(workspaceId) },
      orderBy: { id: 'asc' },
    });
    return rows.map(identity);
  }

  /** Whether one of these (an address, its domain) is verified in the workspace. */
  async isVerified(workspaceId: WorkspaceId, values: readonly string[]): Promise<boolean> {
    const row = await this.database.prisma.identity.findFirst({
      where: { workspaceId: uuidOf(workspaceId), value: { in: [...values] }, verifiedAt: { not: null } },
      select: { id: true },
    });
    return row !== null;
  }

  /** What the workspace may send from: at most a hundred of each. */
  async listVerified(workspaceId: WorkspaceId): Promise<{ addresses: string[]; domains: string[] }> {
    const [addresses, domains] = await Promise.all([
      this.verifiedValues(workspaceId, 'address'),
      this.verifiedValues(workspaceId, 'domain'),
    ]);
    return { addresses, domains };
  }

  private async verifiedValues(workspaceId: WorkspaceId, kind: IdentityKind): Promise<string[]> {
    const rows = await this.database.prisma.identity.findMany({
      where: { workspaceId: uuidOf(workspaceId), kind, verifiedAt: { not: null } },
      select: { value: true },
      orderBy: { value: 'asc' },
      take: MOST_NAMED,
    });
    return rows.map((row) => row.value);
  }
}

function identity(row: IdentityRow): Identity {
  const { kind, value, verifiedAt, createdAt } = row;
  return {
    id: idFromUuid('idn', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    kind,
    value,
    verifiedAt,
    createdAt,
  };
}

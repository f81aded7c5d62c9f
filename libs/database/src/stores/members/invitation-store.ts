import { type InvitationId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Invitation,
  type InvitationStatus,
  type Page,
  pageOf,
  type PageRequest,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { Prisma } from '../../generated/client.ts';
import { invitationOf } from './invitation-row.ts';
import { prismaPage } from '../prisma-page.ts';

/** Reads the invitations of workspaces; `InvitationChanges` writes them, and `InvitationLinkStore` accepts them. */
export class InvitationStore {
  constructor(private readonly database: Database) {}

  /** A page of a workspace's invitations, optionally of one status. Index: invitations_by_workspace_idx. */
  async list(
    workspaceId: WorkspaceId,
    page: PageRequest<InvitationId>,
    status: InvitationStatus | undefined,
  ): Promise<Page<Invitation>> {
    const where = {
      workspaceId: uuidOf(workspaceId),
      ...(status === undefined ? {} : withStatus(status, this.database.clock.now())),
    };
    const rows = await this.database.prisma.invitation.findMany(prismaPage(page, where));
    return pageOf(rows.map(invitationOf), page.limit);
  }

  /** The invitation, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: InvitationId): Promise<Invitation | undefined> {
    const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId) };
    const row = await this.database.prisma.invitation.findFirst({ where });
    return row === null ? undefined : invitationOf(row);
  }
}

/** Selects the rows that have a status at the time `now`. */
function withStatus(status: InvitationStatus, now: Date): Prisma.InvitationWhereInput {
  switch (status) {
    case 'ACCEPTED':
      return { acceptedAt: { not: null } };
    case 'REVOKED':
      return { revokedAt: { not: null } };
    case 'OPEN':
      return { acceptedAt: null, revokedAt: null, expiresAt: { gt: now } };
    case 'EXPIRED':
      return { acceptedAt: null, revokedAt: null, expiresAt: { lte: now } };
  }
}

import { idFromUuid, type MembershipId, type UserId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  leavesNoEditor,
  type Member,
  type Page,
  pageOf,
  type PageRequest,
  type Role,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { Membership, User } from '../../generated/client.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { prismaPage } from '../prisma-page.ts';

/** The change would have left members without an editor among them; nothing has changed. */
export interface LastEditor {
  readonly refused: 'last_editor';
}

type MemberRow = Membership & { readonly user: User };

/** The members of workspaces; `InvitationLinkStore` adds them. */
export class MemberStore {
  constructor(private readonly database: Database) {}

  /** A page of a workspace's members, by when they joined. Index: memberships_by_workspace_idx. */
  async list(workspaceId: WorkspaceId, page: PageRequest<MembershipId>): Promise<Page<Member>> {
    const those = prismaPage(page, { workspaceId: uuidOf(workspaceId) });
    const rows = await this.database.prisma.membership.findMany({ ...those, include: { user: true } });
    const inPages = pageOf(
      rows.map((row) => ({ id: idFromUuid('mbr', row.id), member: memberOf(row) })),
      page.limit,
    );
    return { ...inPages, items: inPages.items.map(({ member }) => member) };
  }

  /** The member, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: UserId): Promise<Member | undefined> {
    const row = await findMembership(this.database.prisma, workspaceId, id);
    return row === null ? undefined : memberOf(row);
  }

  /** Changes a member's role; setting the same role does nothing. Undefined when the workspace has no such member. */
  setRole(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: UserId,
    role: Role,
  ): Promise<Member | LastEditor | undefined> {
    return this.change(workspaceId, id, role, async (transaction, before) => {
      const after = { ...memberOf(before), role };
      if (before.role === role) return after;
      await transaction.membership.update({ where: { id: before.id }, data: { role } });
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'member.updated',
        actor,
        subjectId: id,
        detail: { role, roleBefore: before.role },
      });
      return after;
    });
  }

  /** Removes a member from a workspace and returns the member as it was; undefined when the workspace has no such member. */
  remove(workspaceId: WorkspaceId, actor: Actor, id: UserId): Promise<Member | LastEditor | undefined> {
    return this.change(workspaceId, id, undefined, async (transaction, before) => {
      await transaction.membership.delete({ where: { id: before.id } });
      const removed = memberOf(before);
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'member.removed',
        actor,
        subjectId: id,
        detail: { email: removed.email, role: removed.role },
      });
      return removed;
    });
  }

  /** Changes a member, unless that would leave no editor; changes within a workspace are serialized. */
  private change(
    workspaceId: WorkspaceId,
    id: UserId,
    after: Role | undefined,
    make: (transaction: Transaction, before: MemberRow) => Promise<Member>,
  ): Promise<Member | LastEditor | undefined> {
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const before = await findMembership(transaction, workspaceId, id);
      if (before === null) return undefined;
      const others = await transaction.membership.findMany({
        where: { workspaceId: uuidOf(workspaceId), id: { not: before.id } },
        distinct: ['role'],
        select: { role: true },
      });
      const roles = others.map(({ role }) => role);
      return leavesNoEditor(roles, before.role, after)
        ? { refused: 'last_editor' }
        : make(transaction, before);
    });
  }
}

function findMembership(
  { membership }: Pick<Transaction, 'membership'>,
  workspaceId: WorkspaceId,
  id: UserId,
): Promise<MemberRow | null> {
  const where = { workspaceId: uuidOf(workspaceId), userId: uuidOf(id) };
  return membership.findFirst({ where, include: { user: true } });
}

function memberOf({ user, role, createdAt }: MemberRow): Member {
  return { id: idFromUuid('usr', user.id), email: user.email, name: user.name, role, createdAt };
}

import { idFromUuid, type WorkspaceId } from '@posthorn/kernel';

/** A notice that the editors of a workspace have not been sent yet. */
export interface PendingNotice {
  /** A uuid. */
  readonly id: string;
  readonly workspaceId: WorkspaceId;
  readonly workspaceName: string;
  /** The addresses of the workspace's editors. */
  readonly editors: readonly string[];
}

/** What Prisma must select of the workspace of a notice, for {@link addressed}. */
export const ADDRESSED_WORKSPACE = {
  id: true as const,
  name: true as const,
  memberships: { where: { role: 'EDITOR' as const }, select: { user: { select: { email: true as const } } } },
};

interface AddressedWorkspace {
  /** A uuid. */
  readonly id: string;
  readonly name: string;
  readonly memberships: readonly { readonly user: { readonly email: string } }[];
}

/** Whom a notice is for. */
export function addressed(id: string, workspace: AddressedWorkspace): PendingNotice {
  return {
    id,
    workspaceId: idFromUuid('wrk', workspace.id),
    workspaceName: workspace.name,
    editors: workspace.memberships.map(({ user }) => user.email),
  };
}

/** Prisma's arguments for the next notices, ordered by id. @param after the last one that was read; null: from the beginning */
export function noticesAfter(after: string | null, limit: number) {
  return {
    ...(after !== null && { where: { id: { gt: after } } }),
    orderBy: { id: 'asc' as const },
    take: limit,
  };
}

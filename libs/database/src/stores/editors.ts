/** What Prisma must select of a workspace for {@link editorsOf}. */
export const EDITORS = {
  memberships: { where: { role: 'EDITOR' as const }, select: { user: { select: { email: true as const } } } },
};

/** The addresses of a workspace's editors. */
export function editorsOf(workspace: {
  readonly memberships: readonly { readonly user: { readonly email: string } }[];
}): string[] {
  return workspace.memberships.map(({ user }) => user.email);
}

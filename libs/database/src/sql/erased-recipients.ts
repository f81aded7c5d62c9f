/**
 * Whether the person with an address had unsubscribed when their contact was deleted or erased, and has not subscribed since then. Both parameters are SQL
 * expressions. Index: erased_recipients_pkey; not EXISTS, for which the planner may read the whole table.
 */
export function hasOptedOut(workspaceId: string, email: string): string {
  return `coalesce((
         SELECT h.is_unsubscribed FROM erased_recipients h
         WHERE  h.workspace_id = ${workspaceId} AND h.address_hash = erased_hash(${workspaceId}, ${email})), false)`;
}

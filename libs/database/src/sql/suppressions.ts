const SUPPRESSION_COLUMNS = `
         s.id, s.workspace_id AS "workspaceId", s.email, s.reason, s.email_id AS "emailId", s.created_by AS "createdBy",
         s.created_at AS "createdAt"`;

/** A suppression of a workspace. $1 uuid: the suppression. $2 uuid: the workspace. Index: suppressions_pkey. Locks: none. */
export const READ_SUPPRESSION = `
SELECT   ${SUPPRESSION_COLUMNS}
FROM     suppressions s
WHERE    s.id = $1::uuid AND s.workspace_id = $2::uuid`;

/** By what a list of suppressions can be filtered. */
export type SuppressionFilterName = 'email' | 'reason';

const FILTERS: Readonly<Record<SuppressionFilterName, (parameter: string) => string>> = {
  email: (parameter) => `lower(s.email) = lower(${parameter}::text)`,
  reason: (parameter) => `s.reason = ${parameter}::suppression_reason`,
};

/**
 * A page of a workspace's suppressions. $1 uuid: the workspace. $2 uuid: the first. $3 int: how many. $4 and $5: the filters' values,
 * in their order.
 *
 * Index: suppressions_workspace_email_key with an email, else suppressions_by_reason_idx with a reason, else
 * suppressions_by_workspace_idx; the last two are read in their order. Locks: none.
 */
export function listSuppressions(isAscending: boolean, filters: readonly SuppressionFilterName[]): string {
  const conditions = filters.map((name, place) => `AND ${FILTERS[name](`$${place + 4}`)}`);
  return `
SELECT   ${SUPPRESSION_COLUMNS}
FROM     suppressions s
WHERE    s.workspace_id = $1::uuid AND s.id ${isAscending ? '>=' : '<='} $2::uuid ${conditions.join(' ')}
ORDER BY s.id ${isAscending ? 'ASC' : 'DESC'}
LIMIT    $3::int`;
}

/**
 * Puts an address on a workspace's list, or leaves the entry that it has as it is; gives the one that is there then. (An update that
 * changes nothing: DO NOTHING would give no row.)
 *
 * $1 uuid: its id, if it is new. $2 uuid: the workspace. $3 text: the address. $4 text: the reason. $5 json: who. $6 timestamptz: now.
 * Index: suppressions_workspace_email_key. Locks: the entry.
 */
export const ADD_SUPPRESSION = `
INSERT INTO suppressions AS s (id, workspace_id, email, reason, created_by, created_at)
VALUES ($1::uuid, $2::uuid, $3::text, $4::suppression_reason, $5::jsonb, $6::timestamptz)
ON CONFLICT (workspace_id, lower(email)) DO UPDATE SET reason = s.reason
RETURNING ${SUPPRESSION_COLUMNS}`;

/**
 * Takes an entry off a workspace's list; also what was kept of a person with this address who was erased. $1 uuid: the entry. $2 uuid: the workspace.
 * Indexes: suppressions_pkey, erased_recipients_pkey. Locks: the entry.
 */
export const REMOVE_SUPPRESSION = `
WITH removed AS (
  DELETE FROM suppressions WHERE id = $1::uuid AND workspace_id = $2::uuid RETURNING *
),
forgiven AS (
  UPDATE erased_recipients e SET reason = NULL
  FROM   removed r
  WHERE  e.workspace_id = r.workspace_id AND e.address_hash = erased_hash(r.workspace_id, r.email)
)
SELECT ${SUPPRESSION_COLUMNS}
FROM   removed s`;

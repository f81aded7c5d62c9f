import type { SuppressionId, WorkspaceId } from '@posthorn/kernel';
import type { PageRequest, SuppressionReason } from '@posthorn/domain';
import { pageOfPersons } from './page-of-persons.ts';
import { pageStatement, type Statement, Values } from './statement.ts';

const SUPPRESSION_COLUMNS = `
         s.id, s.workspace_id AS "workspaceId", s.email, s.reason, s.email_id AS "emailId", s.created_by AS "createdBy",
         s.created_at AS "createdAt"`;

/** A suppression of a workspace. $1 uuid: the suppression. $2 uuid: the workspace. Index: suppressions_pkey. Locks: none. */
export const READ_SUPPRESSION = `
SELECT   ${SUPPRESSION_COLUMNS}
FROM     suppressions s
WHERE    s.id = $1::uuid AND s.workspace_id = $2::uuid`;

/** Filters for a list of suppressions. */
export interface SuppressionFilter {
  /** The address, in whatever case. */
  readonly email?: string | undefined;
  readonly reason?: SuppressionReason | undefined;
}

/**
 * A page of a workspace's suppressions.
 *
 * Index: suppressions_workspace_email_key with an email, else suppressions_by_reason_idx with a reason, else
 * suppressions_by_workspace_idx; the last two are read in their order (see {@link pageOfPersons}). Locks: none.
 */
export function listSuppressions(
  workspaceId: WorkspaceId,
  page: PageRequest<SuppressionId>,
  { email, reason }: SuppressionFilter,
): Statement {
  const by = { column: 'reason', type: 'suppression_reason', value: reason };
  return pageOfPersons(
    `SELECT ${SUPPRESSION_COLUMNS}\nFROM     suppressions s`,
    workspaceId,
    { email, by },
    page,
  );
}

/**
 * A page of the suppressions of all workspaces, or of one address in all of them.
 *
 * With an address, looks up the entry of each workspace (suppressions_workspace_email_key), so the cost grows with the number of workspaces; without one,
 * reads suppressions_pkey in its order. Locks: none.
 */
export function searchSuppressions(page: PageRequest<SuppressionId>, email: string | undefined): Statement {
  const values = new Values();
  const searched = email === undefined ? 'suppressions' : entriesOf(values.add(email, 'text'));
  return pageStatement(`SELECT ${SUPPRESSION_COLUMNS}\nFROM     ${searched} s`, {}, page, values);
}

/** A workspace has at most one entry for an address. LIMIT 1 tells Postgres so, which would otherwise plan to read all entries. */
function entriesOf(email: string): string {
  return `(
  SELECT entry.*
  FROM   workspaces w
  CROSS JOIN LATERAL (
    SELECT * FROM suppressions WHERE workspace_id = w.id AND lower(email) = lower(${email}) LIMIT 1
  ) entry
)`;
}

/** The workspace of an entry. $1 uuid. Index: suppressions_pkey. Locks: none. */
export const READ_SUPPRESSION_WORKSPACE = `SELECT workspace_id AS "workspaceId" FROM suppressions WHERE id = $1::uuid`;

/**
 * Adds addresses to a workspace's list unless they are there already; returns the entry of each item, in their order. Of items with the same address,
 * ignoring case, the first counts. (The no-op DO UPDATE makes RETURNING return existing rows; DO NOTHING would not.)
 *
 * $1 json: n, id (of a new entry), email, reason. $2 uuid: the workspace. $3 json: who adds them. $4 timestamptz: now.
 * Index: suppressions_workspace_email_key. Locks: the entries, in the order of that index, so that no two groups deadlock.
 */
export const ADD_SUPPRESSIONS = `
WITH added AS (
  INSERT INTO suppressions AS s (id, workspace_id, email, reason, created_by, created_at)
  SELECT   DISTINCT ON (lower(email)) id, $2::uuid, email, reason, $3::jsonb, $4::timestamptz
  FROM     json_to_recordset($1::json) AS i (n int, id uuid, email text, reason suppression_reason)
  ORDER BY lower(email), n
  ON CONFLICT (workspace_id, lower(email)) DO UPDATE SET reason = s.reason
  RETURNING s.*
)
SELECT   ${SUPPRESSION_COLUMNS}
FROM     json_to_recordset($1::json) AS i (n int, email text)
JOIN     added s ON lower(s.email) = lower(i.email)
ORDER BY i.n`;

/**
 * Removes an entry from a workspace's list, and the suppression of an erased person with the same address. $1 uuid: the entry. $2 uuid: the workspace.
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

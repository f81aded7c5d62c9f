import { type SuppressionId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { PageRequest, SuppressionReason } from '@posthorn/domain';
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
 * suppressions_by_workspace_idx; the last two are read in their order. Locks: none.
 */
export function listSuppressions(
  workspaceId: WorkspaceId,
  page: PageRequest<SuppressionId>,
  { email, reason }: SuppressionFilter,
): Statement {
  const values = new Values();
  const conditions = [
    `workspace_id = ${values.add(uuidOf(workspaceId), 'uuid')}`,
    ...values.given(email, 'text', (wanted) => `lower(email) = lower(${wanted})`),
    ...values.given(reason, 'suppression_reason', (wanted) => `reason = ${wanted}`),
  ];
  return pageStatement(`SELECT ${SUPPRESSION_COLUMNS}\nFROM     suppressions s`, conditions, page, values);
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
  return pageStatement(`SELECT ${SUPPRESSION_COLUMNS}\nFROM     ${searched} s`, [], page, values);
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
 * Adds an address to a workspace's list unless it is there already; returns its entry in either case. (The no-op DO UPDATE makes RETURNING return an existing
 * row; DO NOTHING would not.)
 *
 * $1 uuid: the id of a new entry. $2 uuid: the workspace. $3 text: the address. $4 text: the reason. $5 json: who adds it. $6 timestamptz: now.
 * Index: suppressions_workspace_email_key. Locks: the entry.
 */
export const ADD_SUPPRESSION = `
INSERT INTO suppressions AS s (id, workspace_id, email, reason, created_by, created_at)
VALUES ($1::uuid, $2::uuid, $3::text, $4::suppression_reason, $5::jsonb, $6::timestamptz)
ON CONFLICT (workspace_id, lower(email)) DO UPDATE SET reason = s.reason
RETURNING ${SUPPRESSION_COLUMNS}`;

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

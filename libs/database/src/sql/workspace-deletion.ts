import { FIRST_ID } from '@posthorn/kernel';
import { all, inIndexOrder } from './statement.ts';

/** Locks a workspace against other changes of it. $1 uuid. Index: workspaces_pkey. Locks: the row. */
export const LOCK_WORKSPACE = `SELECT FROM workspaces WHERE id = $1::uuid FOR NO KEY UPDATE`;

/**
 * Pauses the emails of a workspace; those paused already get this reason, so that nobody resumes them because the first one has passed. $1 text[]: their lanes.
 * $2 text: why. Index: paused_lanes_pkey. Locks: the rows.
 */
export const PAUSE_LANES = `
INSERT INTO paused_lanes (queue, lane_id, reason) SELECT 'email', l.id, $2::text FROM unnest($1::text[]) AS l (id)
ON CONFLICT (queue, lane_id) DO UPDATE SET reason = EXCLUDED.reason`;

/** Ends the pauses of lanes. $1 text[]: these. Scans the table, which is small. Locks: the rows. */
export const FORGET_PAUSES = `DELETE FROM paused_lanes WHERE lane_id = ANY ($1::text[])`;

/**
 * Locks the webhooks of a workspace, before {@link REMOVE_ACCESS}: what is being learnt of a receiver at that moment (a slow lane, a pause, a notice) is written with
 * its webhook locked, so it is there by then, and is removed too. $1 uuid. Index: webhooks_by_workspace_idx. Locks: the rows, in order.
 */
export const LOCK_WEBHOOKS = `SELECT FROM webhooks WHERE workspace_id = $1::uuid ORDER BY id FOR UPDATE`;

const removeAll = (table: string): string => `DELETE FROM ${table} WHERE workspace_id = ANY ($1::uuid[])`;

const LANES_OF_WEBHOOKS = `SELECT type_id('wh', id) FROM webhooks WHERE workspace_id = ANY ($1::uuid[])`;

/**
 * Deletes, by table, that by which anybody gets into a workspace, sends for it or is told of it. $1 uuid[]: the workspace. Indexes: those by workspace. Locks: the
 * rows. What belongs to these rows goes with them (ON DELETE CASCADE).
 */
export const REMOVE_ACCESS = {
  api_keys: removeAll('api_keys'),
  invitations: removeAll('invitations'),
  verification_links: removeAll('verification_links'),
  identities: removeAll('identities'),
  paused_lanes: `DELETE FROM paused_lanes WHERE queue = 'webhook' AND lane_id IN (${LANES_OF_WEBHOOKS})`,
  slow_lanes: `DELETE FROM slow_lanes WHERE lane_id IN (${LANES_OF_WEBHOOKS})`,
  webhook_notices: removeAll('webhook_notices'),
  webhooks: removeAll('webhooks'),
} as const;

/** Deletes the memberships of a workspace, and returns whose they were. $1 uuid. Index: memberships_by_workspace_idx. Locks: the rows. */
export const REMOVE_MEMBERS = `DELETE FROM memberships WHERE workspace_id = $1::uuid RETURNING user_id AS id`;

/**
 * Locks people, before {@link REMOVE_FORMER_MEMBERS}: who joins another workspace at that moment is found to be a member there, and who leaves it is not.
 * $1 uuid[]. Index: users_pkey. Locks: the rows, in order.
 */
export const LOCK_USERS = `SELECT FROM users WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE`;

/** Deletes people who are members nowhere. $1 uuid[]. Indexes: users_pkey; memberships has few rows. Locks: the rows. */
export const REMOVE_FORMER_MEMBERS = `
DELETE FROM users u WHERE u.id = ANY ($1::uuid[]) AND NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = u.id)`;

const NEXT_IN_INDEX = inIndexOrder(
  [{ column: 'workspace_id', value: '$1::uuid' }],
  { from: '$2::uuid' },
  'createdAt.asc',
);

/** The next emails of a workspace. $1 uuid: the workspace. $2 uuid: after this one. $3 int: how many. Index: emails_by_workspace_idx (see {@link inIndexOrder}). Locks: none. */
export const NEXT_EMAILS = `
SELECT id FROM emails WHERE ${all(NEXT_IN_INDEX.conditions)} AND id <> $2::uuid ORDER BY ${NEXT_IN_INDEX.order} LIMIT $3::int`;

/**
 * Tables, other than those of emails, events and templates, that can have very many rows of a workspace: the column by which an index orders these, its type,
 * and a value before the first one.
 */
const LARGE = {
  contacts: { key: 'id', type: 'uuid', first: FIRST_ID },
  suppressions: { key: 'id', type: 'uuid', first: FIRST_ID },
  erased_recipients: { key: 'address_hash', type: 'bytea', first: Buffer.alloc(0) },
  idempotency_keys: { key: 'key', type: 'text', first: '' },
  audit_log: { key: 'id', type: 'uuid', first: FIRST_ID },
} as const;

export type LargeTable = keyof typeof LARGE;
export const LARGE_TABLES = Object.keys(LARGE) as LargeTable[];

/** Where the removal of a table's rows begins. */
export function firstOf(table: LargeTable): unknown {
  return LARGE[table].first;
}

/**
 * Deletes the next rows of a workspace, and returns how many and the position of the last one. Without a position, each group would read again the index entries
 * of all rows deleted before it: until VACUUM comes, which may have to wait for a dump, they are still there. $1 uuid: the workspace. $2: after this key.
 * $3 int: how many. Indexes: contacts_by_workspace_idx, suppressions_by_workspace_idx, erased_recipients_pkey, idempotency_keys_pkey or
 * audit_log_by_workspace_idx, from that position. Locks: the rows.
 */
export function removeNext(table: LargeTable): string {
  const { key, type } = LARGE[table];
  return `
WITH next AS MATERIALIZED (
  SELECT   ctid, ${key} AS "end" FROM ${table}
  WHERE    workspace_id = $1::uuid AND ${key} > $2::${type}
  ORDER BY ${key}
  LIMIT    $3::int
),
removed AS (
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM next)) RETURNING 1
)
SELECT   "end", (SELECT count(*)::int FROM removed) AS removed FROM next
ORDER BY "end" DESC
LIMIT    1`;
}

/**
 * Deletes some versions of a workspace's templates, except the current ones. In groups, because for each of them Postgres looks in all templates for one whose
 * current version it is, without an index. $1 uuid: the workspace. $2 int: how many. Index: template_versions_template_number_key. Scans the templates.
 * Locks: the rows.
 */
export const REMOVE_OLD_VERSIONS = `
DELETE FROM template_versions WHERE id = ANY (ARRAY(
  SELECT v.id FROM templates t JOIN template_versions v ON v.template_id = t.id AND v.id <> t.current_version_id
  WHERE  t.workspace_id = $1::uuid
  LIMIT  $2::int))`;

/** Deletes some templates of a workspace that have only their current version, with that. Parameters, index, scan and locks as {@link REMOVE_OLD_VERSIONS}. */
export const REMOVE_TEMPLATES = `
WITH gone AS (
  DELETE FROM templates WHERE id = ANY (ARRAY(
    SELECT t.id FROM templates t
    WHERE  t.workspace_id = $1::uuid
    AND    NOT EXISTS (SELECT FROM template_versions v WHERE v.template_id = t.id AND v.id <> t.current_version_id)
    LIMIT  $2::int))
  RETURNING current_version_id
)
DELETE FROM template_versions WHERE id = ANY (ARRAY(SELECT current_version_id FROM gone))`;

/**
 * Deletes a workspace, by table, after {@link REMOVE_ACCESS}. $1 uuid[]: the workspace. The row of usage comes first: whoever accepts locks it before writing
 * anything, so from then on nothing that is being accepted is invisible. Indexes: those by workspace. Locks: the rows.
 */
export const REMOVE_WORKSPACE = {
  usage: removeAll('usage'),
  ...Object.fromEntries(LARGE_TABLES.map((table) => [table, removeAll(table)])),
  retention_rounds: removeAll('retention_rounds'),
  erasures: removeAll('erasures'),
  template_versions:
    'DELETE FROM template_versions WHERE template_id IN (SELECT id FROM templates WHERE workspace_id = ANY ($1::uuid[]))',
  templates: removeAll('templates'),
  workspaces: 'DELETE FROM workspaces WHERE id = ANY ($1::uuid[])',
} as const;

/** Whether a workspace has an email or an event. $1 uuid. Indexes: emails_by_workspace_idx, events_feed_idx. Locks: none. */
export const HAS_ANY = `
SELECT EXISTS (SELECT FROM emails WHERE workspace_id = $1::uuid) OR EXISTS (SELECT FROM events WHERE workspace_id = $1::uuid) AS "hasAny"`;

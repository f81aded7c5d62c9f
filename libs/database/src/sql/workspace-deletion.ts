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

/** The next emails of a workspace. $1 uuid: the workspace. $2 uuid: after this one. $3 int: how many. Index: emails_by_workspace_idx. Locks: none. */
export const NEXT_EMAILS = `
SELECT id FROM emails WHERE workspace_id = $1::uuid AND id > $2::uuid ORDER BY id LIMIT $3::int`;

/** Tables, other than those of emails and events, that can have very many rows of a workspace. */
export const LARGE_TABLES = [
  'contacts',
  'suppressions',
  'erased_recipients',
  'idempotency_keys',
  'audit_log',
] as const;

/** Deletes some rows of a workspace. $1 uuid: the workspace. $2 int: how many. Index: one by workspace. Locks: the rows. */
export const removeSome = (table: (typeof LARGE_TABLES)[number]): string => `
DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE workspace_id = $1::uuid LIMIT $2::int))`;

/**
 * Deletes a workspace, by table, after {@link REMOVE_ACCESS}. $1 uuid[]: the workspace. The row of usage comes first: whoever accepts locks it before writing
 * anything, so from then on nothing that is being accepted is invisible. Indexes: those by workspace. Locks: the rows.
 */
export const REMOVE_WORKSPACE = {
  usage: removeAll('usage'),
  ...Object.fromEntries(LARGE_TABLES.map((table) => [table, removeAll(table)])),
  retention_rounds: removeAll('retention_rounds'),
  template_versions:
    'DELETE FROM template_versions WHERE template_id IN (SELECT id FROM templates WHERE workspace_id = ANY ($1::uuid[]))',
  templates: removeAll('templates'),
  workspaces: 'DELETE FROM workspaces WHERE id = ANY ($1::uuid[])',
} as const;

/** Whether a workspace has an email or an event. $1 uuid. Indexes: emails_by_workspace_idx, events_feed_idx. Locks: none. */
export const HAS_ANY = `
SELECT EXISTS (SELECT FROM emails WHERE workspace_id = $1::uuid) OR EXISTS (SELECT FROM events WHERE workspace_id = $1::uuid) AS "hasAny"`;

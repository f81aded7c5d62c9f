import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Stack } from './stack.ts';

/** Tables without the workspace in a column: which rows belong to nothing any more. */
const ORPHANS = {
  email_contents: 'NOT EXISTS (SELECT FROM emails e WHERE e.id = t.email_id)',
  email_events: 'NOT EXISTS (SELECT FROM emails e WHERE e.id = t.email_id)',
  webhook_attempts: 'NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.id = t.delivery_id)',
  dkim_keys: 'NOT EXISTS (SELECT FROM identities i WHERE i.id = t.identity_id)',
  users: 'NOT EXISTS (SELECT FROM memberships m WHERE m.user_id = t.id)',
  slow_lanes: `NOT EXISTS (SELECT FROM webhooks w WHERE type_id('wh', w.id) = t.lane_id)`,
  paused_lanes: `NOT EXISTS (SELECT FROM webhooks w WHERE type_id('wh', w.id) = t.lane_id)
    AND NOT EXISTS (SELECT FROM workspaces w WHERE starts_with(t.lane_id, type_id('wrk', w.id)))`,
  outbox: `NOT EXISTS (SELECT FROM emails e WHERE e.id = t.subject_id) AND NOT EXISTS (SELECT FROM events e WHERE e.id = t.subject_id)
    AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.id = t.subject_id)`,
};

/** How many rows of a workspace each table has, by its column `workspace_id`. */
export async function rowsOf(stack: Stack, workspaceId: WorkspaceId): Promise<Record<string, number>> {
  const { rows } = await stack.database.pool.query<{ table: string }>(
    `SELECT c.relname AS table FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'workspace_id'
     WHERE  c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`,
  );
  const counts: Record<string, number> = {};
  for (const { table } of rows) {
    const sql = `SELECT count(*)::int FROM ${table} WHERE workspace_id = $1`;
    counts[table] = await stack.count(sql, [uuidOf(workspaceId)]);
  }
  return counts;
}

/** How many rows of each table belong to nothing any more. */
export async function orphansOf(stack: Stack): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const [table, isOrphan] of Object.entries(ORPHANS))
    counts[table] = await stack.count(`SELECT count(*)::int FROM ${table} t WHERE ${isOrphan}`);
  return counts;
}

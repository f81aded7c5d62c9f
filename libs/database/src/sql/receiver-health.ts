import { type ColumnType, rowsOf } from '../binary-array.ts';

/** The array parameters of UPDATE_HEALTH: one column of the webhooks each, in this order. */
export const HEALTH_COLUMNS = {
  id: 'uuid',
  failing_since: 'timestamptz',
  warned_at: 'timestamptz',
  is_slow: 'boolean',
} as const satisfies Record<string, ColumnType>;

/**
 * Stores since when receivers have been failing, when their workspaces were warned of that, and whether they are slow. HEALTH_COLUMNS, an array each; distinct
 * webhooks.
 *
 * Indexes: webhooks_pkey, slow_lanes_pkey. Locks: the webhooks, which must have been locked before (LOCK_RECEIVERS), by a
 * statement of its own: see decision 38. Nobody else writes the slow lane of a webhook without its lock.
 */
export const UPDATE_HEALTH = `
WITH learnt AS MATERIALIZED (
  SELECT * FROM ${rowsOf(HEALTH_COLUMNS, 'l')}
),
slow AS (
  INSERT INTO slow_lanes (lane_id)
  SELECT type_id('wh', id) FROM learnt WHERE is_slow
  ON CONFLICT DO NOTHING
),
quick AS (
  DELETE FROM slow_lanes s WHERE s.lane_id = ANY (ARRAY(SELECT type_id('wh', id) FROM learnt WHERE NOT is_slow))
)
UPDATE webhooks w
SET    failing_since = l.failing_since, warned_at = l.warned_at
FROM   learnt l
WHERE  w.id = l.id AND w.id = ANY (ARRAY(SELECT id FROM learnt))`;

/** The array parameters of APPLY_NOTICES: one column of the webhooks each, in this order. */
export const NOTICE_COLUMNS = {
  webhook_id: 'uuid',
  workspace_id: 'uuid',
  notice: 'text',
} as const satisfies Record<string, ColumnType>;

/**
 * Stores notices to workspaces about webhooks. A notice other than a warning (FAILING) also disables its webhook and pauses its lane.
 *
 * $1 timestamptz: the time of the change. The others: NOTICE_COLUMNS, an array each; distinct webhooks.
 *
 * Indexes: webhooks_pkey, paused_lanes_pkey. Locks: as UPDATE_HEALTH, and the keys of the workspaces.
 */
export const APPLY_NOTICES = `
WITH given AS MATERIALIZED (
  SELECT n.*, n.notice <> 'FAILING' AS is_end
  FROM   ${rowsOf(NOTICE_COLUMNS, 'n', 2)}
),
noticed AS (
  INSERT INTO webhook_notices (workspace_id, webhook_id, kind)
  SELECT workspace_id, webhook_id, notice::webhook_notice_kind FROM given
),
held AS (
  INSERT INTO paused_lanes (queue, lane_id, reason)
  SELECT 'webhook', type_id('wh', webhook_id), 'the webhook is DISABLED' FROM given WHERE is_end
  ON CONFLICT (queue, lane_id) DO UPDATE SET reason = excluded.reason
)
UPDATE webhooks w
SET    status = 'DISABLED', updated_at = $1::timestamptz
WHERE  w.id = ANY (ARRAY(SELECT webhook_id FROM given WHERE is_end))`;

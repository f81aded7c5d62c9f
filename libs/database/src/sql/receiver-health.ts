import { type ColumnType, rowsOf } from './binary-array.ts';

/** The array parameters of APPLY_RECEIVER_CHANGES: one column of the changes each, in this order. */
export const RECEIVER_CHANGE_COLUMNS = {
  webhook_id: 'uuid',
  workspace_id: 'uuid',
  failing_since: 'timestamptz',
  warned_at: 'timestamptz',
  is_slow: 'boolean',
  notice: 'text',
} as const satisfies Record<string, ColumnType>;

/**
 * Stores since when receivers have been failing, when their workspaces were warned of that, whether they are slow, and notices to the workspaces. A notice other
 * than a warning (FAILING) also disables its webhook and pauses its lane.
 *
 * $1 timestamptz: the time of the change. The others: RECEIVER_CHANGE_COLUMNS, an array each; distinct webhooks.
 *
 * Indexes: webhooks_pkey, slow_lanes_pkey, paused_lanes_pkey. Locks: the webhooks, which must have been locked before (LOCK_RECEIVERS), by a statement of its
 * own: see decision 38; and the keys of the workspaces with notices. Nobody else writes the slow lane of a webhook without its lock.
 */
export const APPLY_RECEIVER_CHANGES = `
WITH learnt AS MATERIALIZED (
  SELECT l.*, coalesce(l.notice <> 'FAILING', false) AS is_end
  FROM   ${rowsOf(RECEIVER_CHANGE_COLUMNS, 'l', 2)}
),
slow AS (
  INSERT INTO slow_lanes (lane_id)
  SELECT type_id('wh', webhook_id) FROM learnt WHERE is_slow
  ON CONFLICT DO NOTHING
),
quick AS (
  DELETE FROM slow_lanes s WHERE s.lane_id = ANY (ARRAY(SELECT type_id('wh', webhook_id) FROM learnt WHERE NOT is_slow))
),
noticed AS (
  INSERT INTO webhook_notices (workspace_id, webhook_id, kind)
  SELECT workspace_id, webhook_id, notice::webhook_notice_kind FROM learnt WHERE notice IS NOT NULL
),
held AS (
  INSERT INTO paused_lanes (queue, lane_id, reason)
  SELECT 'webhook', type_id('wh', webhook_id), 'the webhook is DISABLED' FROM learnt WHERE is_end
  ON CONFLICT (queue, lane_id) DO UPDATE SET reason = excluded.reason
)
UPDATE webhooks w
SET    failing_since = l.failing_since, warned_at = l.warned_at,
       status     = CASE WHEN l.is_end THEN 'DISABLED' ELSE w.status END,
       updated_at = CASE WHEN l.is_end THEN $1::timestamptz ELSE w.updated_at END
FROM   learnt l
WHERE  w.id = l.webhook_id AND w.id = ANY (ARRAY(SELECT webhook_id FROM learnt))`;

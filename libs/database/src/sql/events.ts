/** The CTEs that record the events of $1 json, each with its subscribed webhooks, and make them due. Returns the lanes in which events are due. */
const EVENTS = `
event AS MATERIALIZED (
  SELECT e.*,
         ARRAY(SELECT   w.id FROM webhooks w
               WHERE    w.workspace_id = e.workspace_id AND e.type = ANY (w.events)
               ORDER BY w.id) AS webhook_ids
  FROM   json_to_recordset($1::json) AS e (
           id uuid, workspace_id uuid, type text, payload text, created_at timestamptz, lane_id text)
),
due AS (
  INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
  SELECT id, 'event', lane_id, 'ready', created_at FROM event WHERE cardinality(webhook_ids) > 0
),
recorded AS (
  INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
  SELECT id, workspace_id, type, payload, webhook_ids, created_at FROM event
)
SELECT DISTINCT lane_id AS "laneId" FROM event WHERE cardinality(webhook_ids) > 0`;

/**
 * Records events, each with the webhooks that are subscribed at this moment, whatever their status. Events without subscribers do not become due. Must run
 * in the transaction of their cause.
 *
 * $1 json: id, workspace_id, type, payload, created_at, lane_id. Index: webhooks_by_workspace_idx. Locks: none.
 */
export const RECORD_EVENTS = `
WITH ${EVENTS}`;

/** The same, together with a data-modifying CTE that is the cause of the events; its parameters begin at $2. */
export function recordEventsWith(cause: string): string {
  return `
WITH ${cause},
${EVENTS}`;
}

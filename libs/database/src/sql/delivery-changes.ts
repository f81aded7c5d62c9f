import { dueAgain } from './due-again.ts';

/** The delivery $1 (a uuid), if it is of the webhook $2 of the workspace $3, and there still is that webhook: deliveries stay longer. */
const ASKED = `id = $1::uuid AND webhook_id = $2::uuid AND workspace_id = $3::uuid
       AND EXISTS (SELECT FROM webhooks WHERE id = $2::uuid)`;

/**
 * Looks at what is due of a delivery, which then nobody else changes until the transaction ends. Parameters as of READ_STATUS.
 * Index: outbox_pkey. Locks: the outbox row. Whoever records its outcome has the row first, and it is gone or waits again after that.
 */
export const LOCK_DUE = `
SELECT o.state FROM outbox o
WHERE  o.subject_id = $1::uuid AND EXISTS (SELECT FROM webhook_deliveries WHERE ${ASKED})
FOR NO KEY UPDATE`;

/** Looks at a delivery. $1 uuid: it. $2 uuid: its webhook. $3 uuid: its workspace. Indexes: webhook_deliveries_pkey, webhooks_pkey. Locks: none. */
export const READ_STATUS = `SELECT status FROM webhook_deliveries WHERE ${ASKED}`;

/** Makes a delivery that waits for its retry due now. $1 uuid. Gives its row, if it is there. Index: outbox_pkey. Locks: its row. */
export const HASTEN_DELIVERY = `
UPDATE outbox SET state = 'ready', due_at = now() WHERE subject_id = $1::uuid AND state = 'waiting' RETURNING subject_id`;

/** Makes a finished delivery due again. $1 uuid. Gives its row, if nobody else has made it. See {@link dueAgain}. */
export const PUT_BACK_DELIVERY = `
WITH finished AS MATERIALIZED (
  SELECT id, event_id, type_id('wh', webhook_id) AS lane_id FROM webhook_deliveries WHERE id = $1::uuid
), ${dueAgain('finished')}
SELECT subject_id FROM due`;

/**
 * Records an event that did not happen, and makes its delivery to one webhook due.
 *
 * $1 uuid: the event. $2 uuid: the workspace. $3 text: the event's name. $4 text: the bytes. $5 uuid: the webhook. $6 timestamptz.
 * $7 text: the webhook's lane. Gives the delivery. Locks: the new rows.
 */
export const ADD_TEST_DELIVERY = `
WITH event AS (
  INSERT INTO events (id, workspace_id, type, payload, webhook_ids, is_test, created_at)
  VALUES ($1::uuid, $2::uuid, $3::text, $4::text, ARRAY[$5::uuid], true, $6::timestamptz)
),
delivery AS (
  INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id)
  VALUES (delivery_id($1::uuid, $5::uuid), $2::uuid, $5::uuid, $1::uuid)
  RETURNING id
)
INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, bytes)
SELECT id, 'webhook', $7::text, 'ready', $6::timestamptz, octet_length($4::text) FROM delivery
RETURNING subject_id AS id`;

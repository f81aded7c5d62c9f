import { rescheduleDeliveries } from './reschedule-deliveries.ts';

/** A webhook that still exists: deliveries outlive it. $1 uuid: the webhook. $2 uuid: its workspace. Index: webhooks_pkey. Locks: none. */
export const FIND_WEBHOOK = `SELECT id FROM webhooks WHERE id = $1::uuid AND workspace_id = $2::uuid`;

/**
 * The same with a lock. Locks: the row, which a recovery and a re-activation lock too: while they wait for another delivery to be made due, this one could be made
 * due, posted and recorded, and they would make it due again.
 */
export const SHARE_WEBHOOK = `${FIND_WEBHOOK} FOR SHARE`;

/**
 * Reads and locks the outbox row of a delivery. $1 uuid: the delivery. $2 uuid: its webhook. Index: outbox_pkey. Locks: the outbox row. If its outcome is being
 * recorded, this waits, and then finds the row gone or waiting for a retry.
 */
export const LOCK_DUE = `
SELECT o.state FROM outbox o
WHERE  o.subject_id = $1::uuid AND EXISTS (SELECT FROM webhook_deliveries WHERE id = $1::uuid AND webhook_id = $2::uuid)
FOR NO KEY UPDATE`;

/**
 * The status of a delivery. Parameters as LOCK_DUE. Index: webhook_deliveries_pkey. Locks: the key of the delivery, which conflicts only with deleting it: its
 * retention removes it before it is made due again, or leaves it.
 */
export const READ_STATUS = `SELECT status FROM webhook_deliveries WHERE id = $1::uuid AND webhook_id = $2::uuid FOR KEY SHARE`;

/** Makes a delivery that waits for its retry due now, with a fresh retry schedule. $1 uuid. Returns its outbox row, if it waits. Index: outbox_pkey. Locks: the row. */
export const HASTEN_DELIVERY = `
UPDATE outbox SET state = 'ready', due_at = now(), attempts = 0 WHERE subject_id = $1::uuid AND state = 'waiting' RETURNING subject_id`;

/** Makes a finished delivery due again. $1 uuid. Returns its new outbox row, unless somebody else has created it. See {@link rescheduleDeliveries}. */
export const PUT_BACK_DELIVERY = `
WITH finished AS MATERIALIZED (
  SELECT id, event_id, type_id('wh', webhook_id) AS lane_id FROM webhook_deliveries WHERE id = $1::uuid
), ${rescheduleDeliveries('finished')}
SELECT subject_id FROM due`;

/**
 * Records a test event, and makes its delivery to one webhook due.
 *
 * $1 uuid: the event. $2 uuid: the workspace. $3 text: the event's name. $4 text: the payload. $5 uuid: the webhook. $6 timestamptz: now.
 * $7 text: the webhook's lane. Returns the delivery. Locks: the new rows.
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

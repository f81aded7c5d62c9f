import { createHmac } from 'node:crypto';
import { request } from 'undici';

export const TOKEN = 'wht_0123456789abcdefghijklmnopqrstuv';
export const EVENT = 'CONTACT_CREATED';
export const EVENT_ID = /** @type {import('@posthorn/kernel').EventId} */ ('evt_01k9zq7v3nf4b8gq2m5c6d7e8f');
const CONTACT = {
  id: 'ctc_01k9zq7v3nf4b8gq2m5c6d7e8h',
  email: 'ada@example.net',
  properties: { plan: 'pro' },
};

/** The payload of an event, different for each `n`. @param {number | string} n */
export function payload(n) {
  return JSON.stringify({
    event: EVENT,
    createdAt: '2026-01-02T03:04:05.678Z',
    data: { contact: CONTACT, n },
  });
}

/** The id of a delivery, different for each `n`. @param {number} n */
export function deliveryId(n) {
  return /** @type {import('@posthorn/kernel').DeliveryId} */ (`dlv_${String(n).padStart(26, '0')}`);
}

/**
 * Posts an event with both signatures, in the simplest way: the baseline for deliveries.
 *
 * @param {import('undici').Agent} dispatcher @param {string} url @param {number} n
 */
export async function postBare(dispatcher, url, n) {
  const body = Buffer.from(payload(n));
  const seconds = Math.floor(Date.now() / 1_000);
  const message = createHmac('sha256', TOKEN).update(`${EVENT_ID}.${seconds}.`).update(body).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Posthorn-Webhooks/1',
    'x-service-signature': createHmac('sha256', TOKEN).update(body).digest('hex'),
    'x-service-event': EVENT,
    'x-service-event-id': EVENT_ID,
    'x-service-delivery-id': deliveryId(n),
    'x-service-attempt': '1',
    'webhook-id': EVENT_ID,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${message}`,
  };
  const { statusCode, body: answer } = await request(url, { method: 'POST', headers, body, dispatcher });
  await answer.dump();
  if (statusCode !== 200) throw new Error(`a POST was answered ${statusCode}`);
}

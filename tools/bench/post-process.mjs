// Posts events to one receiver: as the webhook dispatcher does, and as a loop of signed `undici.request` does, its yardstick.
import { createHmac } from 'node:crypto';
import { decideAfterPost, deliveryHeaders, parseAddressRange } from '@posthorn/domain';
import { signBody, signMessage } from '@posthorn/signing';
import { WebhookClient } from '@posthorn/webhooks';
import { Agent, request } from 'undici';
import { answerParent } from './helper.mjs';

const TOKEN = 'wht_0123456789abcdefghijklmnopqrstuv';
const EVENT = 'CONTACT_CREATED';
const EVENT_ID = /** @type {import('@posthorn/kernel').EventId} */ ('evt_01k9zq7v3nf4b8gq2m5c6d7e8f');
const DELIVERY_ID = /** @type {import('@posthorn/kernel').DeliveryId} */ ('dlv_01k9zq7v3nf4b8gq2m5c6d7e8g');
const CONTACT = {
  id: 'ctc_01k9zq7v3nf4b8gq2m5c6d7e8h',
  email: 'ada@example.net',
  properties: { plan: 'pro' },
};
const DEADLINE_MS = 15_000;

/** The bytes of an event; another each time, as they come out of the database. @param {number} n */
function payload(n) {
  return Buffer.from(
    JSON.stringify({ event: EVENT, createdAt: '2026-01-02T03:04:05.678Z', data: { contact: CONTACT, n } }),
  );
}

/** One delivery as the dispatcher makes it, but for the database. @param {WebhookClient} client @param {string} url */
async function deliver(client, url, n) {
  const body = payload(n);
  const unixSeconds = Math.floor(Date.now() / 1_000);
  const headers = deliveryHeaders({
    event: EVENT,
    eventId: EVENT_ID,
    deliveryId: DELIVERY_ID,
    attempt: 1,
    unixSeconds,
    bodySignature: signBody(body, TOKEN),
    messageSignature: signMessage({ id: EVENT_ID, unixSeconds, body }, [TOKEN]),
  });
  const result = await client.post({ url, headers, body, deadlineMs: DEADLINE_MS });
  const verdict = decideAfterPost(result, { attempts: 0, random: 0.5, now: new Date() });
  if (verdict.kind !== 'succeeded') throw new Error(`a delivery ended as ${JSON.stringify(result)}`);
}

/** The same bytes as whoever needs no more than that writes it. @param {Agent} dispatcher @param {string} url */
async function postBare(dispatcher, url, n) {
  const body = payload(n);
  const seconds = Math.floor(Date.now() / 1_000);
  const message = createHmac('sha256', TOKEN).update(`${EVENT_ID}.${seconds}.`).update(body).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Posthorn-Webhooks/1',
    'x-service-signature': createHmac('sha256', TOKEN).update(body).digest('hex'),
    'x-service-event': EVENT,
    'x-service-event-id': EVENT_ID,
    'x-service-delivery-id': DELIVERY_ID,
    'x-service-attempt': '1',
    'webhook-id': EVENT_ID,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${message}`,
  };
  const { statusCode, body: answer } = await request(url, { method: 'POST', headers, body, dispatcher });
  await answer.dump();
  if (statusCode !== 200) throw new Error(`a POST was answered ${statusCode}`);
}

/** How many milliseconds so many take. @param {number} count @param {(n: number) => Promise<void>} one */
async function time(count, one) {
  let begun = 0;
  const start = performance.now();
  const line = async () => {
    while (begun < count) await one((begun += 1));
  };
  await Promise.all(Array.from({ length: atOnce }, line));
  return performance.now() - start;
}

const policy = { allowsHttp: true, networks: [/** @type {any} */ (parseAddressRange('127.0.0.1'))] };
const lookUp = () => Promise.reject(new Error('the receiver of a benchmark has no name'));
const client = new WebhookClient({ policy, lookUp });
let agent = new Agent();
let url = '';
let atOnce = 1;

answerParent({
  open: (/** @type {{ port: number, atOnce: number }} */ given) => {
    atOnce = given.atOnce;
    url = `http://127.0.0.1:${given.port}/hook`;
    agent = new Agent({ connections: atOnce });
  },
  ours: ({ count }) => time(count, (n) => deliver(client, url, n)),
  bare: ({ count }) => time(count, (n) => postBare(agent, url, n)),
});

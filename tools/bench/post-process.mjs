// Posts events to one receiver: as the webhook dispatcher does, and in a loop of signed `undici.request` calls, the baseline.
import { decideAfterPost, deliveryHeaders, parseAddressRange } from '@posthorn/domain';
import { signBody, signMessage, webhookKey } from '@posthorn/signing';
import { WebhookClient } from '@posthorn/webhooks';
import { Agent } from 'undici';
import { deliveryId, EVENT, EVENT_ID, payload, postBare, TOKEN } from './bare-post.mjs';
import { answerParent } from './bench-process.mjs';

const DEADLINE_MS = 15_000;
const KEY = webhookKey(TOKEN);

/** One delivery as the dispatcher makes it, without the database. @param {WebhookClient} client @param {string} url */
async function deliver(client, url, n) {
  const body = Buffer.from(payload(n));
  const unixSeconds = Math.floor(Date.now() / 1_000);
  const headers = deliveryHeaders({
    event: EVENT,
    eventId: EVENT_ID,
    deliveryId: deliveryId(n),
    attempt: 1,
    unixSeconds,
    bodySignature: signBody(body, KEY),
    messageSignature: signMessage({ id: EVENT_ID, unixSeconds, body }, [KEY]),
  });
  const result = await client.post({ url, headers, body, deadlineMs: DEADLINE_MS });
  const verdict = decideAfterPost(result, { attempts: 0, random: 0.5, now: new Date() });
  if (verdict.kind !== 'succeeded') throw new Error(`a delivery ended as ${JSON.stringify(result)}`);
}

/** Milliseconds for `count` POSTs. @param {number} count @param {(n: number) => Promise<void>} postOne */
async function time(count, postOne) {
  let begun = 0;
  const start = performance.now();
  const worker = async () => {
    while (begun < count) await postOne((begun += 1));
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return performance.now() - start;
}

const policy = { allowsHttp: true, networks: [/** @type {any} */ (parseAddressRange('127.0.0.1'))] };
const lookUp = () => Promise.reject(new Error('the receiver of a benchmark has no name'));
const client = new WebhookClient({ policy, lookUp });
let agent = new Agent();
let url = '';
let concurrency = 1;

answerParent({
  open: (/** @type {{ port: number, concurrency: number }} */ options) => {
    concurrency = options.concurrency;
    url = `http://127.0.0.1:${options.port}/hook`;
    agent = new Agent({ connections: concurrency });
  },
  ours: ({ count }) => time(count, (n) => deliver(client, url, n)),
  bare: ({ count }) => time(count, (n) => postBare(agent, url, n)),
});

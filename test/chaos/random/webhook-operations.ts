import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../e2e/api.ts';
import { fromNow } from '../../e2e/times.ts';
import { idOfWebhook } from './account.ts';
import type { Client } from './client.ts';

/** Pauses a webhook, or lets it go on. */
export async function pauseWebhook(client: Client): Promise<void> {
  const status = client.random.pick(['PAUSED', 'ACTIVE']);
  client.expects(await client.at.post(pathOfOne(client), { status }), 200);
}

/** Gives a webhook another token while it is told of events. */
export async function rotateToken(client: Client): Promise<void> {
  const body = { token: client.at.newToken(), overlapSeconds: client.random.pick([0, 60]) };
  client.expects(await client.at.post(`${pathOfOne(client)}/rotate-token`, body), 200);
}

/** Sends a delivery again, or all that failed lately. */
export async function repeatDeliveries(client: Client): Promise<void> {
  const { at, random } = client;
  const path = pathOfOne(client);
  if (random.chance(0.5)) {
    // 409: a recovery of another time runs.
    client.expects(await at.post(`${path}/recover`, { since: fromNow(-60_000) }), 200, 409);
    return;
  }
  const { items } = (await at.get(`${path}/deliveries`)).body['deliveries'] as { items: { id: string }[] };
  if (items.length === 0) return;
  // 409: it is under way.
  client.expects(await at.post(`${path}/deliveries/${random.pick(items).id}/redeliver`, undefined), 200, 409);
}

/** Creates a webhook, and changes what it is told of and deletes it while it is told of events. */
export async function tellForAMoment(client: Client): Promise<void> {
  const { at, random } = client;
  const created = await at.createWebhook(random.pick(at.receiverUrls));
  // 409: there are too many, because the answers to their creation were lost.
  if (created.status === 409 || !client.expects(created, 200)) return;
  const path = `/v1/webhooks/${idOfWebhook(created)}`;
  await sleep(random.between(0, 1_000));
  if (random.chance(0.5)) client.expects(await at.post(path, { events: ['EMAIL_SENT'] }), 200);
  const token = at.newToken();
  client.expects(await at.post(path, { token }), 200);
  await sleep(random.between(0, 1_000));
  // An operator may have re-encrypted the token from before.
  if (tokenIn(await at.get(path)) !== token) client.history.wrong.push(`${path}: has a token from before`);
  // 404: the answer to the first request was lost.
  client.expects(await at.delete(path), 200, 404);
}

function tokenIn({ body }: Answer): string {
  return (body['webhook'] as { token: string }).token;
}

function pathOfOne({ at, random }: Client): string {
  return `/v1/webhooks/${random.pick(at.webhookIds)}`;
}

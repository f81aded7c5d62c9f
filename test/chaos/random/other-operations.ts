import type { Client } from './client.ts';

const LISTS = ['contacts', 'emails', 'emails?status=SCHEDULED', 'stats', 'suppressions', 'usage', 'webhooks'];

/** Pauses a webhook, or lets it go on. */
export async function pauseWebhook(client: Client): Promise<void> {
  const path = `/v1/webhooks/${client.random.pick(client.at.webhookIds)}`;
  const status = client.random.pick(['PAUSED', 'ACTIVE']);
  client.expects(await client.at.post(path, { status }), 200);
}

export async function readLists(client: Client): Promise<void> {
  client.expects(await client.at.get(`/v1/${client.random.pick(LISTS)}`), 200);
}

import type { Client } from './client.ts';

const LISTS = ['contacts', 'emails', 'emails?status=SCHEDULED', 'stats', 'suppressions', 'usage', 'webhooks'];

export async function readLists(client: Client): Promise<void> {
  client.expects(await client.at.get(`/v1/${client.random.pick(LISTS)}`), 200);
}

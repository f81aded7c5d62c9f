import { setTimeout as sleep } from 'node:timers/promises';
import { newRecipient, validEmail } from '../../e2e/stack.ts';
import type { Client } from './client.ts';
import { sendKeyed } from './email-operations.ts';
import type { ChangedContact } from './history.ts';

/** For how long a gateway may remember that an address is not unsubscribed. */
const REMEMBERED_MS = 1_300;

/** Creates a contact, and may update, unsubscribe, resubscribe and delete it. */
export async function changeContact(client: Client): Promise<void> {
  const { random } = client;
  const contact = client.history.contact(client.workspaceId, newRecipient());
  const id = await put(client, contact, 'CONTACT_CREATED', 0);
  const updates = random.between(0, 3);
  for (let n = 1; n <= updates; n += 1) await put(client, contact, 'CONTACT_UPDATED', n);
  if (random.chance(0.5)) {
    await act(client, contact, id, 'unsubscribe', 'CONTACT_UNSUBSCRIBED');
    if (random.chance(0.5)) await act(client, contact, id, 'resubscribe', 'CONTACT_RESUBSCRIBED');
  }
  if (random.chance(0.3)) {
    // 404: the answer to the first request was lost.
    client.expects(await client.at.delete(`/v1/contacts/${id}`), 200, 404);
    contact.events.push('CONTACT_DELETED');
  }
}

/** Sends to somebody who has unsubscribed. */
export async function sendUnwanted(client: Client): Promise<void> {
  const contact = client.history.contact(client.workspaceId, newRecipient());
  const id = await put(client, contact, 'CONTACT_CREATED', 0);
  await act(client, contact, id, 'unsubscribe', 'CONTACT_UNSUBSCRIBED');
  await sleep(REMEMBERED_MS);
  const wanted = client.history.want(client.workspaceId, contact.email, { isUnwanted: true });
  const email = { ...validEmail(), to: contact.email, settings: { unsubscribe: true } };
  await sendKeyed(client, wanted, email);
}

async function put(client: Client, contact: ChangedContact, event: string, n: number): Promise<string> {
  const answer = await client.at.post('/v1/contacts', { email: contact.email, properties: { n } });
  client.expects(answer, 200);
  contact.events.push(event);
  return (answer.body['contact'] as { id: string }).id;
}

async function act(
  client: Client,
  contact: ChangedContact,
  id: string,
  action: string,
  event: string,
): Promise<void> {
  client.expects(await client.at.post(`/v1/contacts/${id}/${action}`, undefined), 200);
  contact.events.push(event);
}

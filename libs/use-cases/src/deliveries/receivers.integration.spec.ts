import { generateKeySync } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { DeliveryStore, WebhookStore, WorkspaceStore } from '@posthorn/database';
import { operator, POSTHORN } from '@posthorn/domain';
import type { WebhookId } from '@posthorn/kernel';
import { type KeyRing, SecretBox } from '@posthorn/signing';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { ManageWebhooks } from '../webhooks/manage-webhooks.ts';
import { Receivers } from './receivers.ts';

const key = (id: string): KeyRing[0] => ({ id, key: generateKeySync('aes', { length: 256 }) });
const [lostKey, ownKey] = [key('lost'), key('own')];

const database = await openTestDatabase();
const { id: acme } = await new WorkspaceStore(database).create(POSTHORN, 'Acme', null);

/** A webhook whose token is encrypted with this key. */
async function webhookWith(encryptionKey: KeyRing[0]): Promise<WebhookId> {
  const webhooks = new ManageWebhooks({
    webhooks: new WebhookStore(database),
    clock: database.clock,
    box: new SecretBox([encryptionKey]),
    policy: { allowsHttp: false, networks: [] },
  });
  const wanted = { url: 'https://example.com/hook', events: ['CONTACT_CREATED'], status: 'ACTIVE' } as const;
  return (await webhooks.create(acme, operator('test'), wanted)).id;
}

it('A receiver whose token cannot be decrypted fails no others that are looked up with it', async () => {
  const [lost, own] = [await webhookWith(lostKey), await webhookWith(ownKey)];
  const receivers = new Receivers(new DeliveryStore(database), new SecretBox([ownKey]));
  expect(await Promise.allSettled([lost, own].map((id) => receivers.find(id)))).toMatchObject([
    { status: 'rejected', reason: { name: 'SecretNotOpened' } },
    { status: 'fulfilled', value: { id: own } },
  ]);
});

import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { newId, newUuid } from '@posthorn/kernel';
import { operator } from '@posthorn/domain';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { IdentityChanges } from './identity-changes.ts';
import { VerificationLinkStore } from './verification-link-store.ts';

const stores = await openTestStores();

it('A link that is removed while it is being used is unknown', async () => {
  const acme = await stores.openWorkspace();
  const tokenHash = randomBytes(32);
  const link = { id: newUuid(Date.now()), sealedMail: randomBytes(40), tokenHash, lifetimeSeconds: 3_600 };
  await new IdentityChanges(stores.database).addAddress(acme, operator('tests'), {
    id: newId('idn', Date.now()),
    address: 'ada@example.net',
    link,
  });
  const erasing = await stores.database.pool.connect();
  await erasing.query('BEGIN');
  await erasing.query('DELETE FROM verification_links WHERE id = $1', [link.id]);
  const used = new VerificationLinkStore(stores.database).use(tokenHash);
  await stores.untilWaiting();
  await erasing.query('COMMIT');
  erasing.release();
  expect(await used).toEqual({ state: 'unknown' });
});

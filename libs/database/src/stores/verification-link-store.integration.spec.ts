import { randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { newId, newUuid, uuidOf } from '@posthorn/kernel';
import { operator } from '@posthorn/domain';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { IdentityChanges } from './identity-changes.ts';
import { VerificationLinkStore } from './verification-link-store.ts';
import type { NewLink } from './verification-links.ts';

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

it.each([
  ['deleted', 'DELETE FROM identities WHERE id = $1'],
  ['verified', `UPDATE identities SET status = 'VERIFIED', verified_at = now() WHERE id = $1`],
])('No link is added for an address that was %s while its mail was written', async (_what, change) => {
  const acme = await stores.openWorkspace();
  const [id, address] = [newId('idn', Date.now()), 'bo@example.net'];
  const newLink = (): NewLink => ({
    id: newUuid(Date.now()),
    sealedMail: randomBytes(40),
    tokenHash: randomBytes(32),
    lifetimeSeconds: 3_600,
  });
  await new IdentityChanges(stores.database).addAddress(acme, operator('tests'), {
    id,
    address,
    link: newLink(),
  });
  await stores.ask(change, [uuidOf(id)]);
  // Else no further mail would be allowed yet.
  await stores.ask(`UPDATE verification_links SET created_at = created_at - interval '1 hour'`);
  const [before, link] = [await stores.count('verification_links'), newLink()];
  expect(await new VerificationLinkStore(stores.database).issue(acme, id, address, link)).toBe('unneeded');
  expect(await stores.count('verification_links')).toBe(before);
});

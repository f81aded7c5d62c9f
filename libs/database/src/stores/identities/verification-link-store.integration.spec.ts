import { expect, it } from '@jest/globals';
import { newId, uuidOf } from '@posthorn/kernel';
import { operator } from '@posthorn/domain';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { IdentityChanges } from './identity-changes.ts';
import { newMail } from '../members/members.fixture.ts';
import { VerificationLinkStore } from './verification-link-store.ts';

const stores = await openTestStores();

it('A link that is removed while it is being used is unknown', async () => {
  const acme = await stores.openWorkspace();
  const link = newMail();
  await new IdentityChanges(stores.database).addAddress(acme, operator('tests'), {
    id: newId('idn', Date.now()),
    address: 'ada@example.net',
    link,
  });
  const erasing = await stores.database.pool.connect();
  await erasing.query('BEGIN');
  await erasing.query('DELETE FROM verification_links WHERE id = $1', [link.id]);
  const used = new VerificationLinkStore(stores.database).use(link.tokenHash);
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
  await new IdentityChanges(stores.database).addAddress(acme, operator('tests'), {
    id,
    address,
    link: newMail(),
  });
  await stores.ask(change, [uuidOf(id)]);
  // Else no further mail would be allowed yet.
  await stores.ask(`UPDATE verification_links SET created_at = created_at - interval '1 hour'`);
  const [before, link] = [await stores.count('verification_links'), newMail()];
  expect(await new VerificationLinkStore(stores.database).issue(acme, id, address, link)).toBe('unneeded');
  expect(await stores.count('verification_links')).toBe(before);
});

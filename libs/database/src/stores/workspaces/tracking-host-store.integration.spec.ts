import { beforeAll, describe, expect, it } from '@jest/globals';
import { type EmailId, newId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { TrackingHostStore } from './tracking-host-store.ts';

const stores = await openTestStores();
const hosts = new TrackingHostStore(stores.database);

/** A workspace with a tracking URL, and one of its emails. */
async function emailOf(trackingUrl: string | null): Promise<EmailId> {
  const workspaceId: WorkspaceId = await stores.openWorkspace();
  await stores.ask('UPDATE workspaces SET tracking_url = $2 WHERE id = $1', [
    uuidOf(workspaceId),
    trackingUrl,
  ]);
  const [id] = await stores.acceptEmails(workspaceId, 1);
  return id!;
}

describe('S17: the host of a workspace', () => {
  let emails: Record<'shop' | 'sister' | 'bank' | 'six' | 'shared' | 'gone', EmailId>;
  beforeAll(async () => {
    emails = {
      shop: await emailOf('https://links.shop.example'),
      sister: await emailOf('http://links.shop.example:8080'),
      bank: await emailOf('https://links.bank.example.:8443'),
      six: await emailOf('http://[2001:db8::1]:8080'),
      shared: await emailOf(null),
      gone: newId('trs', 0),
    };
  });

  it('admits links of its emails, whatever the scheme and port of its URL, and of workspaces with the same host', async () => {
    const asked = [
      ['links.shop.example', ['shop', 'sister']],
      ['links.bank.example', ['bank']],
      ['[2001:db8::1]', ['six']],
    ] as const;
    for (const [host, admitted] of asked) {
      const names = Object.keys(emails) as (keyof typeof emails)[];
      const answers = await hosts.admit(names.map((name) => ({ host, emailId: emails[name] })));
      expect(names.filter((_name, n) => answers[n])).toEqual(admitted);
    }
  });

  it('is not any other, where links of all are admitted', async () => {
    for (const host of ['links.example.com', 'shop.example', 'links.shop.example:8080', '%', ''])
      expect(await hosts.admit(Object.values(emails).map((emailId) => ({ host, emailId })))).toEqual(
        Object.values(emails).map(() => true),
      );
  });

  it('is looked up for many links at once, in their order', async () => {
    const at = (host: string, emailId: EmailId) => ({ host, emailId });
    const links = Array.from({ length: 250 }, () => [
      at('links.bank.example', emails.shop),
      at('links.bank.example', emails.bank),
    ]).flat();
    expect(await hosts.admit(links)).toEqual(links.map((_link, n) => n % 2 === 1));
  });
});

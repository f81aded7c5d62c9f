import { describe, expect, it } from '@jest/globals';
import { type Id, newId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { bulkLane, type Contact, decideAfterReport, operator } from '@posthorn/domain';
import { randomUUID } from 'node:crypto';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { ContactChanges } from './contacts/contact-changes.ts';
import { ContactStore } from './contacts/contact-store.ts';
import { SubscriptionStore } from './contacts/subscription-store.ts';
import { EmailChanges } from './emails/email-changes.ts';
import { ReportStore } from './emails/report-store.ts';
import { IdentityChanges } from './identities/identity-changes.ts';
import { VerificationLinkStore } from './identities/verification-link-store.ts';
import { MemberTestStores, newMail } from './members/members.fixture.ts';
import { DeliveryTestStores } from './webhooks/deliveries.fixture.ts';
import { DeliveryChanges } from './webhooks/delivery-changes.ts';
import { WorkspaceStore } from './workspaces/workspace-store.ts';

const TESTS = operator('tests');
const DAY_MS = 86_400_000;

const stores = await openTestStores(4);
const aside = stores.another(2);
const acme = await stores.openWorkspace();
const globex = await stores.openWorkspace();

const limit = (workspaceId: WorkspaceId, ratePerSecond: number) =>
  new WorkspaceStore(stores.database).change(workspaceId, TESTS, 'workspace.limits_changed', {
    ratePerSecond,
  });

/** The row that is changed, and the change. */
interface Held {
  readonly table: string;
  readonly id: Id<string>;
  readonly change: (n: number) => Promise<unknown>;
}

const workspace = (): Promise<Held> =>
  Promise.resolve({ table: 'workspaces', id: acme, change: (n) => limit(acme, n) });

async function addContact(): Promise<Contact> {
  const upsert = { workspaceId: acme, email: `${randomUUID()}@example.com`, properties: {} };
  const [written] = await new ContactStore(stores.database).upsert([upsert]);
  return (written as { contact: Contact }).contact;
}

async function contact(): Promise<Held> {
  const { id } = await addContact();
  const changes = new ContactChanges(stores.database);
  return { table: 'contacts', id, change: (n) => changes.update(acme, TESTS, id, { n }) };
}

async function email(): Promise<Held> {
  const [id] = await stores.acceptEmails(acme, 1, {
    status: 'SCHEDULED',
    sendAt: new Date(Date.now() + DAY_MS),
    laneId: bulkLane(acme),
  });
  const changes = new EmailChanges(stores.database);
  const at = (n: number) => new Date(Date.now() + DAY_MS + n * 1_000);
  return {
    table: 'emails',
    id: id!,
    change: (n) => changes.reschedule(acme, id!, { at: at(n), keysKeptMs: DAY_MS }),
  };
}

/** An email about which a report comes again and again. */
async function reports(): Promise<Held> {
  const [id] = await stores.acceptEmails(acme, 1);
  const store = new ReportStore(stores.database);
  const report = { kind: 'delivered', isAboutRecipient: true } as const;
  const verdict = decideAfterReport(report, 'SENT');
  const change = (): Promise<unknown> =>
    store.record(id!, () => ({ kind: 'delivered', verdict, detail: {} }));
  return { table: 'emails', id: id!, change };
}

/** A contact whose subscription is changed through the link in one of its emails. */
async function subscription(): Promise<Held> {
  const { id, email } = await addContact();
  const [emailId] = await stores.acceptEmails(acme, 1, { to: { address: email }, unsubscribe: true });
  const changes = new SubscriptionStore(stores.database);
  return { table: 'contacts', id, change: () => changes.setStatus(emailId!, 'UNSUBSCRIBED') };
}

/** A webhook, of which a delivery is sent again. */
async function deliveries(): Promise<Held> {
  const tests = new DeliveryTestStores(stores);
  const id = await tests.addWebhook(acme);
  const [claimed] = await tests.recordAndClaim(acme, id);
  await tests.deliveries.record([tests.outcome(claimed!)]);
  const changes = new DeliveryChanges(stores.database);
  return { table: 'webhooks', id, change: () => changes.sendAgain(acme, TESTS, id, claimed!.id) };
}

/** Holds the row's lock, like a change of another process, until the work is done. */
async function whileHeld({ table, id }: Held, work: () => Promise<void>): Promise<void> {
  const holder = await aside.database.pool.connect();
  await holder.query('BEGIN');
  await holder.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [uuidOf(id)]);
  try {
    await work();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}

describe.each([
  ['a workspace', workspace],
  ['a contact', contact],
  ['an email', email],
  ['an email, by reports', reports],
  ['a subscription', subscription],
  ['the deliveries of a webhook', deliveries],
])('Changes of %s', (_what, make) => {
  it('use at most two connections while they wait, however many they are', async () => {
    const held = await make();
    const changes: Promise<unknown>[] = [];
    await whileHeld(held, async () => {
      for (let n = 1; n <= 40; n += 1) changes.push(held.change(n).catch((error: unknown) => error));
      await aside.untilWaiting(2);
      expect(await limit(globex, 7)).toMatchObject({ ratePerSecond: 7 });
      expect(await stores.acceptEmails(globex, 1)).toHaveLength(1);
      expect(await aside.countWaiting()).toBeLessThanOrEqual(2);
    });
    await Promise.all(changes);
    expect(await held.change(99)).toBeDefined();
  });

  it('are refused, without any effect, when too many wait already', async () => {
    const held = await make();
    const changes: Promise<unknown>[] = [];
    await whileHeld(held, async () => {
      for (let n = 1; n <= 203; n += 1) changes.push(held.change(n).catch((error: unknown) => error));
      // Not always the last: some read before they wait, over several connections.
      expect(await Promise.race(changes)).toMatchObject({
        statusCode: 503,
        message: expect.stringContaining('Too many changes wait for each other'),
      });
    });
    await Promise.all(changes);
  });
});

/** A link in a mail that was used, and what using it once more gives. */
interface UsedLink {
  readonly use: () => Promise<unknown>;
  readonly gives: object;
}

async function invitation(): Promise<UsedLink> {
  const members = new MemberTestStores(stores);
  const { tokenHash } = await members.invite(acme, 'ada@example.com');
  const use = () => members.accept(tokenHash);
  await use();
  return { use, gives: { email: 'ada@example.com', acceptedAt: expect.any(Date) } };
}

async function verification(): Promise<UsedLink> {
  const link = newMail();
  const address = { id: newId('idn', Date.now()), address: 'ada@example.com', link };
  await new IdentityChanges(stores.database).addAddress(acme, TESTS, address);
  const use = () => new VerificationLinkStore(stores.database).use(link.tokenHash);
  await use();
  return { use, gives: { state: 'used', address: 'ada@example.com' } };
}

it.each([
  ['an invitation', invitation],
  ['a verification mail', verification],
])('Using the link of %s again does not wait for changes of its workspace', async (_what, make) => {
  const { use, gives } = await make();
  await whileHeld(await workspace(), async () => {
    expect(await use()).toMatchObject(gives);
  });
});

import { generateKeySync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Database,
  waitForDatabase,
  IdentityChanges,
  IdentityStore,
  InvitationChanges,
  InvitationStore,
  openDatabase,
  PendingMailStore,
  SEALED_COLUMNS,
  WorkspaceStore,
} from '@posthorn/database';
import { operator, POSTHORN } from '@posthorn/domain';
import type { WorkspaceId } from '@posthorn/kernel';
import { SecretBox } from '@posthorn/signing';
import { createTestDatabase, FaultProxy, type TestDatabase } from '@posthorn/testing';
import { openAcceptance } from '../accept/open-acceptance.ts';
import { CreateIdentity } from '../identities/create-identity.ts';
import { VERIFICATION_LINK } from '../identities/verification-mail.ts';
import { INVITATION_LINK } from '../members/invitation-mail.ts';
import { InviteMember } from '../members/invite-member.ts';
import { type LinkKind, SendLink } from './send-link.ts';
import { SubmitPendingMails } from './submit-pending-mails.ts';
import { admitSystemSender, SendSystemMail } from './send-system-mail.ts';

const FROM = { address: 'posthorn@example.com', name: 'Posthorn' };
const TESTS = operator('tests');
const PUBLIC_URL = 'https://posthorn.example.com';
const BOX = new SecretBox([{ id: 'test', key: generateKeySync('aes', { length: 256 }) }]);

let testDatabase: TestDatabase;
let proxy: FaultProxy;
/** The connection that mails are accepted through. */
let mailing: Database;
/** The connection for everything else. */
let database: Database;
let workspaceId: WorkspaceId;
let errors: unknown[];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await FaultProxy.before(testDatabase.url);
  mailing = openDatabase({ url: proxy.urlFor(testDatabase.url), poolSize: 2, applicationName: 'test' });
  database = openDatabase({ url: testDatabase.url, poolSize: 4, applicationName: 'test' });
  await waitForDatabase(database);
  await waitForDatabase(mailing);
  await admitSystemSender(new IdentityStore(database), FROM);
});
beforeEach(async () => {
  errors = [];
  workspaceId = (await new WorkspaceStore(database).create(POSTHORN, 'Acme', null)).id;
});
afterAll(async () => {
  await database.close();
  await mailing.close();
  await proxy.close();
  await testDatabase.drop();
});

/** A request that causes a mail to the address. */
type Ask = (pendingMails: PendingMails, address: string) => Promise<unknown>;
type PendingMails = Pick<SubmitPendingMails, 'seal' | 'submit'>;

interface Kind {
  readonly column: PendingMailStore['mails'];
  readonly ask: Ask;
  readonly link: RegExp;
}

function linksOf(kind: LinkKind, pendingMails: PendingMails): SendLink {
  const workspaces = new WorkspaceStore(database);
  return new SendLink(kind, { workspaces, pendingMails, clock: database.clock, publicUrl: PUBLIC_URL });
}

const inviting: Ask = (pendingMails, email) =>
  new InviteMember({
    invitations: new InvitationStore(database),
    changes: new InvitationChanges(database),
    links: linksOf(INVITATION_LINK, pendingMails),
    clock: database.clock,
  }).invite(workspaceId, TESTS, { email, role: 'VIEWER' });

const addingAddress: Ask = (pendingMails, address) =>
  new CreateIdentity({
    changes: new IdentityChanges(database),
    keys: { make: () => Promise.reject(new Error('an address has no keys')) },
    links: linksOf(VERIFICATION_LINK, pendingMails),
    clock: database.clock,
  }).create(workspaceId, TESTS, { address });

const KINDS: [string, Kind][] = [
  [
    'an invitation',
    {
      column: SEALED_COLUMNS.invitationMail,
      ask: inviting,
      link: /“Acme”.*\s\S+\/invitations\/phi_\w{38}\s/s,
    },
  ],
  [
    'an address that is to be verified',
    {
      column: SEALED_COLUMNS.verificationMail,
      ask: addingAddress,
      link: /“Acme”.*\s\S+\/verify\/identity\/phv_\w{38}\s/s,
    },
  ],
];

async function textsTo(email: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ text: string }>(
    'SELECT text FROM emails JOIN email_contents ON email_id = id WHERE to_address = $1',
    [email],
  );
  return rows.map(({ text }) => text);
}

describe.each(KINDS)('The mail of %s', (name, { column, ask, link }) => {
  const { table } = column;
  const addressOf = (local: string): string => `${local}.${table}@example.net`;

  /** Submits pending mails, like a gateway. */
  function newMails(): SubmitPendingMails {
    const acceptEmails = openAcceptance({
      database: mailing,
      rings: { ring: () => undefined },
      monthlyLimit: null,
      errorBodyOf: ({ statusCode, message }) => ({ statusCode, error: '', message }),
    });
    return new SubmitPendingMails({
      store: new PendingMailStore(database, column),
      systemMail: new SendSystemMail({ acceptEmails, from: FROM }),
      secretBox: BOX,
      kind: name,
      onError: (error) => errors.push(error),
    });
  }

  /** Makes a request of a process that dies after the change is committed and before its mail is handed over. */
  async function askAndDie(address: string): Promise<void> {
    const mails = newMails();
    const seal: SubmitPendingMails['seal'] = (id, mail) => mails.seal(id, mail);
    await ask({ seal, submit: () => Promise.resolve(false) }, address);
    await letTimePass();
  }

  /** A mail that was just recorded is handed over by the process that recorded it. */
  async function letTimePass(): Promise<void> {
    await database.pool.query(`UPDATE ${table} SET created_at = created_at - interval '1 minute'`);
  }

  async function pending(): Promise<number> {
    const { rows } = await database.pool.query<{ count: number }>(
      `SELECT count(*)::int FROM ${table} WHERE sealed_mail IS NOT NULL`,
    );
    return rows[0]!.count;
  }

  it('is handed over at once, and then is no longer pending', async () => {
    await ask(newMails(), addressOf('a'));
    expect(await textsTo(addressOf('a'))).toEqual([expect.stringMatching(link)]);
    expect([await pending(), errors]).toEqual([0, []]);
  });

  it('is not lost with a process that dies before that, and is sent once by several that find it', async () => {
    await askAndDie(addressOf('b'));
    expect([await textsTo(addressOf('b')), await pending()]).toEqual([[], 1]);
    await Promise.all([newMails(), newMails(), newMails()].map((mails) => mails.submitPending()));
    expect([(await textsTo(addressOf('b'))).length, await pending()]).toEqual([1, 0]);
    expect(await newMails().submitPending()).toBe(0);
  });

  it('is sent once when a process dies after the mail is accepted and before that is recorded', async () => {
    await askAndDie(addressOf('c'));
    const { rows } = await database.pool.query<{ id: string; sealed: Buffer }>(
      `SELECT id, sealed_mail AS sealed FROM ${table} WHERE sealed_mail IS NOT NULL`,
    );
    await newMails().submitPending();
    const { id, sealed } = rows[0]!;
    await database.pool.query(`UPDATE ${table} SET sealed_mail = $1 WHERE id = $2`, [sealed, id]);
    expect(await newMails().submitPending()).toBe(1);
    expect([(await textsTo(addressOf('c'))).length, await pending(), errors]).toEqual([1, 0, []]);
  });

  it('survives an outage of accepting: the change is kept, and its mail follows', async () => {
    await proxy.refuse();
    await ask(newMails(), addressOf('d'));
    expect([errors.length, await pending()]).toEqual([1, 1]);
    await proxy.heal();
    await letTimePass();
    expect(await newMails().submitPending()).toBe(1);
    expect([(await textsTo(addressOf('d'))).length, await pending()]).toEqual([1, 0]);
  });

  it('waits for the next process when this one is about to end', async () => {
    await askAndDie(addressOf('g'));
    expect([await newMails().submitPending(() => false), await pending()]).toEqual([0, 1]);
    expect([await newMails().submitPending(), await pending()]).toEqual([1, 0]);
  });

  it('that cannot be decrypted delays no other', async () => {
    await askAndDie(addressOf('e'));
    await database.pool.query(`UPDATE ${table} SET sealed_mail = '\\x00' WHERE sealed_mail IS NOT NULL`);
    await askAndDie(addressOf('f'));
    expect(await newMails().submitPending()).toBe(1);
    expect([(await textsTo(addressOf('f'))).length, errors.length]).toEqual([1, 1]);
  });
});

it('An address whose identity is deleted, or verified by an operator, has no pending mail any more', async () => {
  const { column, ask } = KINDS[1]![1];
  const seal: SubmitPendingMails['seal'] = () => Buffer.from('sealed');
  const pending = async (): Promise<unknown[]> =>
    (await new PendingMailStore(database, column).pending(-60, null, 10)).slice();
  const before = (await pending()).length;
  for (const address of ['gone@example.net', 'trusted@example.net'])
    await ask({ seal, submit: () => Promise.resolve(false) }, address);
  expect((await pending()).length).toBe(before + 2);
  const identities = await new IdentityStore(database).list(workspaceId);
  const gone = identities.find(({ value }) => value === 'gone@example.net')!;
  await new IdentityChanges(database).delete(workspaceId, TESTS, gone.id);
  await new IdentityStore(database).put(workspaceId, POSTHORN, {
    kind: 'address',
    value: 'trusted@example.net',
    verified: true,
  });
  expect((await pending()).length).toBe(before);
});

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  AcceptanceStore,
  type Database,
  greetDatabase,
  IdentityStore,
  InvitationChanges,
  InvitationMailStore,
  InvitationStore,
  openDatabase,
  TemplateStore,
  WorkspaceStore,
} from '@posthorn/database';
import { operator } from '@posthorn/domain';
import { type WorkspaceId } from '@posthorn/kernel';
import { SecretBox } from '@posthorn/signing';
import { createTestDatabase, FaultProxy, type TestDatabase } from '@posthorn/testing';
import { AcceptEmails } from '../accept/accept-emails.ts';
import { admitSystemSender, SendSystemMail } from '../system/send-system-mail.ts';
import { InviteMember } from './invite-member.ts';
import { SendInvitationMails } from './send-invitation-mails.ts';

const FROM = { address: 'posthorn@example.com', name: 'Posthorn' };
const TESTS = operator('tests');
const BOX = new SecretBox([{ id: 'test', key: randomBytes(32) }]);

let testDatabase: TestDatabase;
let proxy: FaultProxy;
/** What mails are accepted by. */
let mailing: Database;
/** All else. */
let database: Database;
let workspaceId: WorkspaceId;
let errors: unknown[];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  proxy = await FaultProxy.before(testDatabase.url);
  mailing = openDatabase({ url: proxy.urlFor(testDatabase.url), poolSize: 2, applicationName: 'test' });
  database = openDatabase({ url: testDatabase.url, poolSize: 4, applicationName: 'test' });
  await greetDatabase(database);
  await greetDatabase(mailing);
  await admitSystemSender(new IdentityStore(database), FROM);
});
beforeEach(async () => {
  errors = [];
  workspaceId = (await new WorkspaceStore(database).create('Acme', null)).id;
});
afterAll(async () => {
  await database.close();
  await mailing.close();
  await proxy.close();
  await testDatabase.drop();
});

/** A gateway's way of sending the mails. */
function newMails(): SendInvitationMails {
  const acceptEmails = new AcceptEmails({
    store: new AcceptanceStore(mailing),
    identities: new IdentityStore(mailing),
    templates: new TemplateStore(mailing),
    rings: { ring: () => undefined },
    clock: database.clock,
    monthlyLimit: null,
    errorBodyOf: ({ statusCode, message }) => ({ statusCode, error: '', message }),
  });
  return new SendInvitationMails({
    mails: new InvitationMailStore(database),
    systemMail: new SendSystemMail({ acceptEmails, from: FROM }),
    secretBox: BOX,
    clock: database.clock,
    publicUrl: 'https://posthorn.example.com',
    onError: (error) => errors.push(error),
  });
}

function newInviteMember(mails: Pick<SendInvitationMails, 'write' | 'handOver'>): InviteMember {
  return new InviteMember({
    invitations: new InvitationStore(database),
    changes: new InvitationChanges(database),
    workspaces: new WorkspaceStore(database),
    mails,
    clock: database.clock,
  });
}

/** Invites somebody by a process that dies after the invitation is committed and before its mail is handed over. */
async function inviteAndDie(email: string): Promise<void> {
  const mails = newMails();
  const dying = {
    write: (to: string, name: string) => mails.write(to, name),
    handOver: () => Promise.resolve(false),
  };
  await newInviteMember(dying).invite(workspaceId, TESTS, { email, role: 'VIEWER' });
  await letTimePass();
}

/** What is owed is owed for a minute. */
async function letTimePass(): Promise<void> {
  await database.pool.query(`UPDATE invitation_mails SET created_at = created_at - interval '1 minute'`);
}

async function textsTo(email: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ text: string }>(
    'SELECT text FROM emails JOIN email_contents ON email_id = id WHERE to_address = $1',
    [email],
  );
  return rows.map(({ text }) => text);
}

async function owed(): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'SELECT count(*)::int FROM invitation_mails WHERE sealed_mail IS NOT NULL',
  );
  return rows[0]!.count;
}

describe('The mail of an invitation', () => {
  it('is handed over at once, and then owed no more', async () => {
    await newInviteMember(newMails()).invite(workspaceId, TESTS, { email: 'a@example.net', role: 'VIEWER' });
    expect(await textsTo('a@example.net')).toEqual([
      expect.stringMatching(/“Acme”.*\shttps:\/\/posthorn\.example\.com\/invitations\/phi_\w{38}\s/s),
    ]);
    expect([await owed(), errors]).toEqual([0, []]);
  });

  it('is not lost with a process that dies before, and is sent once by several that find it', async () => {
    await inviteAndDie('b@example.net');
    expect([await textsTo('b@example.net'), await owed()]).toEqual([[], 1]);
    await Promise.all([newMails(), newMails(), newMails()].map((mails) => mails.handOverOwed()));
    expect([(await textsTo('b@example.net')).length, await owed()]).toEqual([1, 0]);
    expect(await newMails().handOverOwed()).toBe(0);
  });

  it('is sent once when a process dies after it is durable and before that is noted', async () => {
    await inviteAndDie('c@example.net');
    const { rows } = await database.pool.query<{ sealed: Buffer }>(
      'SELECT sealed_mail AS sealed FROM invitation_mails WHERE sealed_mail IS NOT NULL',
    );
    await newMails().handOverOwed();
    await database.pool.query(
      'UPDATE invitation_mails SET sealed_mail = $1 WHERE workspace_id IN (SELECT id FROM workspaces ORDER BY id DESC LIMIT 1)',
      [rows[0]!.sealed],
    );
    expect(await newMails().handOverOwed()).toBe(1);
    expect([(await textsTo('c@example.net')).length, await owed(), errors]).toEqual([1, 0, []]);
  });

  it('outlives an outage of the database: the invitation stands, its mail follows', async () => {
    await proxy.refuse();
    const wanted = { email: 'd@example.net', role: 'VIEWER' } as const;
    const invitation = await newInviteMember(newMails()).invite(workspaceId, TESTS, wanted);
    expect([invitation.email, errors.length, await owed()]).toEqual(['d@example.net', 1, 1]);
    await proxy.heal();
    await letTimePass();
    expect(await newMails().handOverOwed()).toBe(1);
    expect([(await textsTo('d@example.net')).length, await owed()]).toEqual([1, 0]);
  });

  it('that cannot be opened holds up no other', async () => {
    await inviteAndDie('e@example.net');
    await database.pool.query(
      `UPDATE invitation_mails SET sealed_mail = '\\x00' WHERE sealed_mail IS NOT NULL`,
    );
    await inviteAndDie('f@example.net');
    expect(await newMails().handOverOwed()).toBe(1);
    expect([(await textsTo('f@example.net')).length, errors.length]).toEqual([1, 1]);
  });
});

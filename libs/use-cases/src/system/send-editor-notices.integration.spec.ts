import { expect, it } from '@jest/globals';
import {
  newId,
  newUuid,
  Refusal,
  SYSTEM_WORKSPACE_ID,
  uuidOf,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import { POSTHORN } from '@posthorn/domain';
import {
  IdentityStore,
  ReceiverHealthStore,
  DeliveryStore,
  WebhookNoticeStore,
  WorkspaceStore,
} from '@posthorn/database';
import { openAcceptance } from '../accept/open-acceptance.ts';
import { webhookNoticeMail } from '../webhooks/webhook-notice-mail.ts';
import { SendEditorNotices } from './send-editor-notices.ts';
import { admitSystemSender, SendSystemMail, type SystemMail } from './send-system-mail.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const FROM = { address: 'posthorn@example.com', name: 'Posthorn' };

const database = await openTestDatabase();
await admitSystemSender(new IdentityStore(database), FROM);
const { id: acme } = await new WorkspaceStore(database).create(POSTHORN, 'Acme', null);
await addMember('ada@example.net', 'EDITOR');
await addMember('bob@example.net', 'EDITOR');
await addMember('eve@example.net', 'VIEWER');

async function addMember(email: string, role: 'EDITOR' | 'VIEWER', workspaceId = acme): Promise<void> {
  const [userId, at] = [newUuid(Date.now()), new Date()];
  await database.prisma.user.create({ data: { id: userId, email, name: 'Editor', createdAt: at } });
  await database.prisma.membership.create({
    data: { id: newUuid(Date.now()), workspaceId: uuidOf(workspaceId), userId, role, createdAt: at },
  });
}

interface Faults {
  readonly send?: (mail: SystemMail, send: (mail: SystemMail) => Promise<void>) => Promise<void>;
  readonly onError?: (error: unknown) => void;
  /** Undefined: the installation sends no mails of its own. */
  readonly from?: typeof FROM | undefined;
}

/** What reached nobody, and why. */
const untold: { workspaceId: WorkspaceId; webhookId: WebhookId; notice: string; reason: string }[] = [];

function notices({ send = (mail, sendIt) => sendIt(mail), onError = rethrow, ...given }: Faults = {}) {
  const acceptEmails = openAcceptance({
    database,
    rings: { ring: () => undefined },
    monthlyLimit: null,
    errorBodyOf: ({ statusCode, message }) => ({ statusCode, error: '', message }),
  });
  const { from } = { from: FROM, ...given };
  const systemMail = new SendSystemMail({ acceptEmails, from });
  return new SendEditorNotices({
    kind: 'webhook-notice',
    notices: new WebhookNoticeStore(database),
    mailOf: webhookNoticeMail,
    systemMail: {
      isPossible: systemMail.isPossible,
      send: (mail) => send(mail, (one) => systemMail.send(one)),
    },
    onUntold: ({ workspaceId, webhookId, notice }, reason) =>
      untold.push({ workspaceId, webhookId, notice, reason }),
    onError,
  });
}

function rethrow(error: unknown): never {
  throw error;
}

/** A webhook whose receiver has just answered 410. */
async function disabledWebhook(workspaceId = acme): Promise<WebhookId> {
  const id = newId('wh', Date.now());
  await database.prisma.webhook.create({
    data: {
      id: uuidOf(id),
      workspaceId: uuidOf(workspaceId),
      url: 'https://hooks.example/<a>',
      events: ['CONTACT_CREATED'],
      token: new Uint8Array(1),
    },
  });
  const [receiver] = await new DeliveryStore(database).readReceivers([id]);
  const report = { webhookId: id, workspaceId, asOf: receiver!.asOf };
  await new ReceiverHealthStore(database).applyReports(
    [{ ...report, effect: 'gone', isSlow: false }],
    () => undefined,
  );
  return id;
}

const mails = () =>
  database.prisma.email.findMany({
    where: { workspaceId: uuidOf(SYSTEM_WORKSPACE_ID) },
    orderBy: { toAddress: 'asc' },
  });

it('W8: notifies each editor of the workspace once, and nobody else, although several processes hand it over concurrently', async () => {
  const webhook = await disabledWebhook();
  await Promise.all([1, 2, 3].map(() => notices().submitPending()));
  const sent = await mails();
  expect(sent.map(({ toAddress }) => toAddress)).toEqual(['ada@example.net', 'bob@example.net']);
  expect(sent[0]!.subject).toBe('A webhook was disabled: “Acme”');
  const content = await database.prisma.emailContent.findFirst({ where: { emailId: sent[0]!.id } });
  expect(content!.text).toContain(webhook);
  expect(content!.html).toContain('https://hooks.example/&lt;a&gt;');
  expect(await notices().submitPending()).toBe(0);
});

it('notifies the remaining editors although a process died in between and the URL of the webhook has changed', async () => {
  const webhook = await disabledWebhook();
  const before = (await mails()).length;
  const away = new Error('the database is away');
  const dying = notices({
    send: (mail, send) => (mail.to === 'bob@example.net' ? Promise.reject(away) : send(mail)),
    onError: (error) => expect(error).toBe(away),
  });
  expect(await dying.submitPending()).toBe(0);
  expect(await mails()).toHaveLength(before + 1);
  const where = { id: uuidOf(webhook) };
  await database.prisma.webhook.update({ where, data: { url: 'https://hooks.example/b' } });

  expect(await notices().submitPending()).toBe(1);
  expect(await mails()).toHaveLength(before + 2);
  expect(await notices().submitPending()).toBe(0);
});

it('W8: notifies about a webhook after a hundred others without anybody to notify', async () => {
  const stuck = (await new WorkspaceStore(database).create(POSTHORN, 'Stuck', null)).id;
  await addMember('stuck@example.net', 'EDITOR', stuck);
  await database.prisma.webhookNotice.createMany({
    data: Array.from({ length: 100 }, (_, n) => ({
      // Before every id and time of a notice that is created now.
      id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      workspaceId: uuidOf(stuck),
      webhookId: newUuid(Date.now()),
      kind: 'FAILING' as const,
      createdAt: new Date(0),
    })),
  });
  await disabledWebhook();
  const failing = notices({
    send: (mail, send) =>
      mail.to === 'stuck@example.net' ? Promise.reject(new Refusal(403, 'the month is full')) : send(mail),
    onError: () => undefined,
  });
  expect(await failing.submitPending()).toBe(1);
  expect(await notices().submitPending()).toBe(100);
});

it('reports what reaches nobody, with the reason, and tells nobody of it who becomes an editor later', async () => {
  const empty = (await new WorkspaceStore(database).create(POSTHORN, 'Empty', null)).id;
  await addMember('reader@example.net', 'VIEWER', empty);
  const [unsendable, unread] = [await disabledWebhook(), await disabledWebhook(empty)];
  const before = (await mails()).length;
  expect(untold).toEqual([]);

  const ofUnsendable = { workspaceId: acme, webhookId: unsendable, notice: 'DISABLED_GONE' };
  const ofUnread = { workspaceId: empty, webhookId: unread, notice: 'DISABLED_GONE' };
  const reason = 'SYSTEM_FROM is not set';
  expect(await notices({ from: undefined }).submitPending()).toBe(2);
  expect(untold.splice(0)).toEqual(
    expect.arrayContaining([
      { ...ofUnsendable, reason },
      { ...ofUnread, reason },
    ]),
  );

  const another = await disabledWebhook(empty);
  expect(await notices().submitPending()).toBe(1);
  expect(untold.splice(0)).toEqual([
    { ...ofUnread, webhookId: another, reason: 'the workspace has no member with the role EDITOR' },
  ]);
  await addMember('late@example.net', 'EDITOR', empty);
  expect(await notices().submitPending()).toBe(0);
  expect(await mails()).toHaveLength(before);
});

it('distinguishes editors whose addresses begin alike', async () => {
  const begin = `${'x'.repeat(64)}@${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(40)}`;
  for (const end of ['one', 'two']) await addMember(`${begin}.${end}.example`, 'EDITOR');
  await disabledWebhook();
  expect(await notices().submitPending()).toBe(1);
  const told = (await mails())
    .map(({ toAddress }) => toAddress)
    .filter((address) => address.startsWith(begin));
  expect(told).toEqual([`${begin}.one.example`, `${begin}.two.example`]);
});

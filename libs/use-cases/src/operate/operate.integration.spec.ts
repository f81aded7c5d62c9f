import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  ApiKeyStore,
  AuditLogStore,
  EraStore,
  IdentityStore,
  OutboxStore,
  PausedLaneStore,
  type Workspace,
  WorkspaceStore,
} from '@posthorn/database';
import { bulkLane, EVERY_LANE, nowLane, operator, POSTHORN, webhookLane } from '@posthorn/domain';
import { newId, SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import { hashSecret } from '@posthorn/signing';
import { addIdentity } from './add-identity.ts';
import { createApiKey } from './create-api-key.ts';
import { createWorkspace } from './create-workspace.ts';
import { listPauses, pauseSending, resumeSending } from './pause-sending.ts';
import { requireWorkspace } from './require-workspace.ts';
import { sendingStatus } from './sending-status.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const database = await openTestDatabase();
const workspaces = new WorkspaceStore(database);
let workspace: Workspace;

beforeEach(async () => {
  workspace = await createWorkspace(workspaces, operator('test'), 'The shop', null);
});

describe('Creating a workspace', () => {
  it('trims the name', async () => {
    const { id } = await createWorkspace(workspaces, operator('test'), '  Ünïcode & Söhne ', 0);
    expect(await requireWorkspace(workspaces, id)).toMatchObject({
      name: 'Ünïcode & Söhne',
      monthlyEmailLimit: 0,
    });
  });

  it.each([
    ['a', 1],
    ['😀'.repeat(100), 1_000_000_000],
  ])('takes the shortest and the longest name, and the highest limit', async (name, limit) => {
    const created = await createWorkspace(workspaces, operator('test'), name, limit);
    expect(created).toMatchObject({ name, monthlyEmailLimit: limit });
  });

  it.each([
    ['of nothing but spaces', '   ', '`name` has 0 characters; give 1 to 100'],
    ['that is too long', '😀'.repeat(101), '`name` has 101 characters'],
    ['with a NUL', 'a\0b', '`name` holds a NUL'],
    ['with an escape sequence', 'a\u001b[2J', '`name` holds a control character (U+001B)'],
    ['that turns the line around', 'a\u202eb', '`name` holds a character that cannot be seen'],
  ])('refuses a name %s', async (_case, name, message) => {
    await expect(createWorkspace(workspaces, operator('test'), name, null)).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining(message),
    });
  });

  it.each([-1, 1.5, Number.NaN, Infinity, 1_000_000_001])('refuses a limit of %d', async (limit) => {
    await expect(createWorkspace(workspaces, operator('test'), 'x', limit)).rejects.toMatchObject({
      statusCode: 400,
    });
  });
});

describe('A workspace', () => {
  it.each([
    ['the_shop', 400, '"the_shop" is not the id of a workspace'],
    [newId('wrk', Date.now()), 404, 'There is no workspace'],
  ])('is not found by %s', async (text, statusCode, message) => {
    const found = requireWorkspace(workspaces, text);
    await expect(found).rejects.toMatchObject({ statusCode, message: expect.stringContaining(message) });
  });
});

describe('Creating a key', () => {
  it('returns a secret with access to the workspace, by default with the weakest role that may send', async () => {
    const apiKeys = new ApiKeyStore(database);
    const { key, secretKey } = await createApiKey(apiKeys, workspace.id, operator('test'), {
      displayName: 'Web',
    });
    expect(await apiKeys.findHolders([hashSecret(secretKey)])).toEqual([
      {
        apiKeyId: key.id,
        workspaceId: workspace.id,
        role: 'API_USER',
        displayName: 'Web',
        ratePerSecond: null,
        rateBurst: null,
      },
    ]);
  });

  it('refuses names that only resemble a role', async () => {
    const apiKeys = new ApiKeyStore(database);
    for (const role of ['editor', 'constructor', '']) {
      await expect(
        createApiKey(apiKeys, workspace.id, operator('test'), { displayName: 'x', role }),
      ).rejects.toMatchObject({ statusCode: 400 });
    }
    expect(await apiKeys.list(workspace.id)).toEqual([]);
  });
});

describe('Adding an identity', () => {
  const identities = (): IdentityStore => new IdentityStore(database);

  it('keeps an existing one, and keeps it verified', async () => {
    const first = await addIdentity(identities(), workspace.id, POSTHORN, {
      domain: 'bücher.example',
      verified: true,
    });
    const second = await addIdentity(identities(), workspace.id, POSTHORN, {
      domain: 'xn--bcher-kva.example',
      verified: false,
    });
    expect(second).toEqual(first);
    expect(first.value).toBe('xn--bcher-kva.example');
  });

  it.each([
    ['nothing for a domain', { domain: '' }, '`domain` is empty'],
    ['an address for a domain', { domain: 'ada@example.com' }, '`domain` is more than a domain'],
    ['a domain with a port', { domain: 'example.com:25' }, '`domain` is more than a domain'],
    ['a host without a dot', { domain: 'localhost' }, 'which has no dot'],
    ['a name beside an address', { address: 'Ada <ada@example.com>' }, '`address` has a name beside it'],
    ['a domain for an address', { address: 'example.com' }, '`address` has no `@`'],
  ])('refuses %s', async (_case, value, message) => {
    await expect(
      addIdentity(identities(), workspace.id, POSTHORN, { ...value, verified: true }),
    ).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining(message),
    });
    expect(await identities().list(workspace.id)).toEqual([]);
  });
});

describe('Pausing', () => {
  const ada = operator('ada');
  const paused = (): PausedLaneStore => new PausedLaneStore(database);

  it('pauses the lanes of a workspace, and shows them as one', async () => {
    await pauseSending(paused(), workspace.id, ada, 'spam');
    const lanes = (await paused().list()).map(({ laneId }) => laneId);
    expect(lanes.sort()).toEqual([bulkLane(workspace.id), nowLane(workspace.id)]);
    expect(await listPauses(paused())).toMatchObject([{ whose: workspace.id, reason: 'spam' }]);
    expect(await resumeSending(paused(), workspace.id, ada)).toMatchObject({ wasPaused: true });
    expect(await paused().list()).toEqual([]);
  });

  it('does not read the lanes of paused or disabled webhooks, of which there may be any number', async () => {
    const lanes = [EVERY_LANE, webhookLane(newId('wh', Date.now()))];
    const data = lanes.map((laneId) => ({ queue: 'webhook' as const, laneId, reason: 'spam' }));
    await database.prisma.pausedLane.createMany({ data });
    expect((await paused().list()).map(({ laneId }) => laneId)).toEqual([EVERY_LANE]);
    expect(await listPauses(paused())).toMatchObject([{ whose: 'webhooks' }]);
    await database.prisma.pausedLane.deleteMany();
  });

  it('is recorded in the audit log of the workspace, once for each change', async () => {
    const id = workspace.id;
    for (const reason of ['spam', 'again']) await pauseSending(paused(), id, ada, reason);
    for (let times = 0; times < 2; times += 1) await resumeSending(paused(), id, ada);
    const { items } = await new AuditLogStore(database).list(id, { limit: 10, sort: 'createdAt.asc' });
    // Entries of the same millisecond are in no order.
    expect(items.toSorted((one, other) => (one.action < other.action ? -1 : 1))).toMatchObject([
      { action: 'workspace.created' },
      { action: 'workspace.paused', actor: ada, subjectId: id, detail: { reason: 'spam' } },
      { action: 'workspace.resumed', actor: ada, subjectId: id },
    ]);
  });

  it.each([
    ['emails', ['email']],
    ['webhooks', ['event', 'webhook']],
  ] as const)(
    'of %s tells the audit log of the system by whom and why, once for each change',
    async (whose, queues) => {
      const log = new AuditLogStore(database);
      const newest = { limit: 10, sort: 'createdAt.desc' } as const;
      const before = (await log.list(SYSTEM_WORKSPACE_ID, newest)).items.length;
      for (const reason of ['incident', 'again']) await pauseSending(paused(), whose, ada, reason);
      for (let times = 0; times < 2; times += 1) await resumeSending(paused(), whose, ada);
      const { items } = await log.list(SYSTEM_WORKSPACE_ID, newest);
      expect(items.slice(0, items.length - before)).toMatchObject([
        { action: 'sending.resumed', actor: ada, detail: { queues } },
        { action: 'sending.paused', actor: ada, detail: { queues, reason: 'incident' } },
      ]);
    },
  );

  it('keeps the first reason, and returns it', async () => {
    const first = await pauseSending(paused(), 'emails', ada, 'first');
    expect(first).toMatchObject({ reason: 'first', wasPaused: false });
    expect(await pauseSending(paused(), 'emails', ada, 'second')).toEqual({ ...first, wasPaused: true });
    expect(await resumeSending(paused(), workspace.id, ada)).toEqual({
      whose: workspace.id,
      wasPaused: false,
      allEmailsArePaused: true,
    });
    await resumeSending(paused(), 'emails', ada);
  });

  it('requires a reason', async () => {
    await expect(pauseSending(paused(), 'emails', ada, ' ')).rejects.toMatchObject({ statusCode: 400 });
    expect(await sendingStatus(paused(), new OutboxStore(database), new EraStore(database))).toEqual({
      pauses: [],
      lanesWithDueEmails: 0,
      emails: { countedTo: 100_000, due: 0, waiting: 0, isMoreWaiting: false, taken: 0 },
      restoration: null,
    });
  });

  it('is shown beside the lanes with due emails, which do not include those of events and webhooks', async () => {
    await database.pool.query(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at)
       SELECT gen_random_uuid(), queue::outbox_queue, queue || '_lane', 'ready', now() FROM unnest($1::text[]) AS queue`,
      [['email', 'event', 'webhook']],
    );
    const status = await sendingStatus(paused(), new OutboxStore(database), new EraStore(database));
    expect(status).toMatchObject({ lanesWithDueEmails: 1, emails: { due: 1 } });
    await database.pool.query('DELETE FROM outbox');
  });
});

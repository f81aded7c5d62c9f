import { expect, it } from '@jest/globals';
import { newUuid, sleep, SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { POSTHORN } from '@posthorn/domain';
import { someContact } from '../webhooks/deliveries.fixture.ts';
import { recordEvents } from './record-events.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { AuditLogStore, recordAudit } from '../workspaces/audit-log-store.ts';
import { WorkspaceStore } from '../workspaces/workspace-store.ts';
import { transact } from '../../transactions/transaction.ts';

const stores = await openTestStores();
const acme = await stores.openWorkspace();

async function addWebhook(workspaceId: WorkspaceId, events: string[], status = 'ACTIVE'): Promise<string> {
  const id = newUuid(Date.now());
  await stores.ask(
    `INSERT INTO webhooks (id, workspace_id, url, events, token, status) VALUES ($1, $2, 'https://example.com', $3, '', $4)`,
    [id, uuidOf(workspaceId), events, status],
  );
  return id;
}

const record = (workspaceId: WorkspaceId, name: 'CONTACT_CREATED' | 'CONTACT_DELETED'): Promise<void> =>
  transact(stores.database, (transaction) =>
    recordEvents(transaction, stores.database.clock.nowMs(), [
      { workspaceId, name, data: someContact(workspaceId) },
    ]),
  );

it('W9, W11: an event is due at once for the webhooks that are subscribed when it occurs, including paused ones', async () => {
  const subscribed = await addWebhook(acme, ['CONTACT_CREATED', 'CONTACT_DELETED']);
  const paused = await addWebhook(acme, ['CONTACT_CREATED'], 'PAUSED');
  await addWebhook(acme, ['CONTACT_DELETED']);
  await addWebhook(await stores.openWorkspace(), ['CONTACT_CREATED']);
  await record(acme, 'CONTACT_CREATED');

  const [event] = await stores.ask<{ id: string; webhook_ids: string[]; payload: string }>(
    `SELECT id, webhook_ids, payload FROM events WHERE type = 'CONTACT_CREATED'`,
  );
  expect(event!.webhook_ids).toEqual([subscribed, paused].sort());
  expect(JSON.parse(event!.payload)).toEqual({
    event: 'CONTACT_CREATED',
    createdAt: expect.any(String),
    data: { contact: expect.objectContaining({ email: 'ada@example.net', workspaceId: acme }) },
  });
  expect(
    await stores.ask('SELECT queue, lane_id, state FROM outbox WHERE subject_id = $1', [event!.id]),
  ).toEqual([{ queue: 'event', lane_id: `${acme}.events`, state: 'ready' }]);
});

it('an event that no webhook is subscribed to is recorded, but not due', async () => {
  const quiet = await stores.openWorkspace();
  await record(quiet, 'CONTACT_CREATED');
  const where = `workspace_id = '${uuidOf(quiet)}'`;
  expect(await stores.count('events', where)).toBe(1);
  expect(await stores.count('outbox', `subject_id IN (SELECT id FROM events WHERE ${where})`)).toBe(0);
});

it('an event and an entry of the audit log are rolled back with the change that caused them', async () => {
  const id = newUuid(Date.now());
  const failed = transact(stores.database, async (transaction) => {
    const nowMs = stores.database.clock.nowMs();
    await recordAudit(transaction, nowMs, {
      workspaceId: acme,
      action: 'webhook.created',
      actor: POSTHORN,
      subjectId: SYSTEM_WORKSPACE_ID,
      detail: { id },
    });
    await recordEvents(transaction, nowMs, [
      { workspaceId: acme, name: 'CONTACT_DELETED', data: someContact(acme, { id }) },
    ]);
    throw new Error('changed its mind');
  });
  await expect(failed).rejects.toThrow('changed its mind');
  expect(await stores.count('events', `payload LIKE '%${id}%'`)).toBe(0);
  expect(await stores.count('audit_log', `detail->>'id' = '${id}'`)).toBe(0);
});

it('the audit log is read in pages', async () => {
  const { clock } = stores.database;
  for (const action of ['template.created', 'template.updated', 'template.deleted'] as const) {
    await transact(stores.database, (transaction) =>
      recordAudit(transaction, clock.nowMs(), {
        workspaceId: acme,
        action,
        actor: POSTHORN,
        subjectId: acme,
      }),
    );
    // Those of one millisecond are in no order.
    await sleep(2);
  }
  const log = new AuditLogStore(stores.database);
  const first = await log.list(acme, { limit: 2, sort: 'createdAt.desc' });
  expect(first.items.map(({ action }) => action)).toEqual(['template.deleted', 'template.updated']);
  expect(first.hasMore).toBe(true);
  expect((await log.list(SYSTEM_WORKSPACE_ID, { limit: 2, sort: 'createdAt.asc' })).items).toEqual([]);
});

it('the workspace of our own mails exists, and is not listed among the customers', async () => {
  const workspaces = new WorkspaceStore(stores.database);
  expect(await workspaces.find(SYSTEM_WORKSPACE_ID)).toMatchObject({ name: 'system', monthlyEmailLimit: 0 });
  expect((await workspaces.list()).map(({ id }) => id)).not.toContain(SYSTEM_WORKSPACE_ID);
});

it('the customers can be listed up to a number, the oldest first', async () => {
  const workspaces = new WorkspaceStore(stores.database);
  await workspaces.create(POSTHORN, 'Younger', null);
  const all = await workspaces.list();
  expect(await workspaces.list(1)).toEqual(all.slice(0, 1));
  expect(all.length).toBeGreaterThan(1);
});

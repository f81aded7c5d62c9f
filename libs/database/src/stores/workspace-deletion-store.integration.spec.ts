import { describe, expect, it } from '@jest/globals';
import { newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { operator, webhookLane } from '@posthorn/domain';
import { DeliveryTestStores } from '../deliveries.fixture.ts';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { LOCK_RECEIVERS } from '../sql/deliveries.ts';
import { APPLY_NOTICES, UPDATE_HEALTH } from '../sql/receiver-health.ts';
import { WorkspaceDeletionStore } from './workspace-deletion-store.ts';

const OPERATOR = operator('test');

const stores = await openTestStores(4);
const deletion = new WorkspaceDeletionStore(stores.database);

/** Runs `statements` in a transaction, begins `step` meanwhile, and commits. @returns the result of the step */
async function during<Result>(
  statements: readonly [string, unknown[]][],
  step: () => Promise<Result>,
): Promise<Result> {
  const call = await stores.database.pool.connect();
  await call.query('BEGIN');
  for (const [sql, values] of statements) await call.query(sql, values);
  const result = step();
  await stores.untilWaiting();
  await call.query('COMMIT');
  call.release();
  return result;
}

const finishDuring = (
  workspaceId: WorkspaceId,
  statements: readonly [string, unknown[]][],
): ReturnType<WorkspaceDeletionStore['finish']> =>
  during(statements, () => deletion.finish(workspaceId, OPERATOR, {}));

const isThere = async (id: WorkspaceId): Promise<boolean> =>
  (await stores.count('workspaces', 'id = $1', [uuidOf(id)])) === 1;

describe('Beginning the deletion of a workspace', () => {
  it('leaves nothing of what is being learnt of its receivers at that moment', async () => {
    const workspaceId = await stores.openWorkspace();
    const webhookId = await new DeliveryTestStores(stores).addWebhook(workspaceId);
    const lane = webhookLane(webhookId);
    const learnt: [string, unknown[]][] = [
      [LOCK_RECEIVERS, [[uuidOf(webhookId)]]],
      [UPDATE_HEALTH, [[uuidOf(webhookId)], [new Date()], [null], [true]]],
      [APPLY_NOTICES, [new Date(), [uuidOf(webhookId)], [uuidOf(workspaceId)], ['DISABLED_GONE']]],
    ];
    expect(await during(learnt, () => deletion.close(workspaceId, OPERATOR, {}))).toMatchObject({
      webhooks: 1,
      slow_lanes: 1,
      paused_lanes: 1,
      webhook_notices: 1,
    });
    expect(await stores.count('slow_lanes', 'lane_id = $1', [lane])).toBe(0);
    expect(await stores.count('paused_lanes', 'lane_id = $1', [lane])).toBe(0);
  });
});

describe('Finishing the deletion of a workspace', () => {
  it('waits for emails that are being accepted, and then changes nothing until they have been removed', async () => {
    const workspaceId = await stores.openWorkspace();
    const [id] = await stores.acceptEmails(workspaceId, 1);
    const copy = newUuid(Date.now());
    const accepted: [string, unknown[]][] = [
      ['UPDATE usage SET accepted = accepted + 1 WHERE workspace_id = $1', [uuidOf(workspaceId)]],
      [
        `INSERT INTO emails SELECT $2::uuid, workspace_id, type, status, from_address, from_name, to_address, to_name, reply_to, subject,
           message_id, group_by, track_clicks, track_opens, send_at, accepted_at FROM emails WHERE id = $1`,
        [uuidOf(id!), copy],
      ],
    ];
    expect(await finishDuring(workspaceId, accepted)).toBeUndefined();
    expect(await isThere(workspaceId)).toBe(true);
    expect(await stores.count('usage', 'workspace_id = $1', [uuidOf(workspaceId)])).toBe(1);

    expect(await deletion.removeEmails(workspaceId)).toMatchObject({
      deleted: { emails: 2 },
      cancelled: 1,
      inProgress: 0,
    });
    expect(await deletion.removeEmails(workspaceId)).toBeUndefined();
    expect(await deletion.finish(workspaceId, OPERATOR, {})).toMatchObject({ workspaces: 1, usage: 1 });
    expect(await isThere(workspaceId)).toBe(false);
  });

  it('changes nothing when a call that had begun earlier adds a contact', async () => {
    const workspaceId = await stores.openWorkspace();
    const contact = `INSERT INTO contacts (id, workspace_id, email) VALUES ($1, $2, 'ada@example.net')`;
    const values = [newUuid(Date.now()), uuidOf(workspaceId)];
    expect(await finishDuring(workspaceId, [[contact, values]])).toBeUndefined();
    expect(await isThere(workspaceId)).toBe(true);
    expect(await deletion.finish(workspaceId, OPERATOR, {})).toMatchObject({ workspaces: 1, contacts: 1 });
  });

  it('reports a fault of ours instead of taking it for a call that adds something', async () => {
    const workspaceId = await stores.openWorkspace();
    await stores.ask('ALTER TABLE retention_rounds RENAME TO hidden');
    const finished = deletion.finish(workspaceId, OPERATOR, {});
    await expect(finished).rejects.toMatchObject({ code: '42P01' });
    await stores.ask('ALTER TABLE hidden RENAME TO retention_rounds');
    expect(await isThere(workspaceId)).toBe(true);
  });

  it('goes on where an earlier run was interrupted', async () => {
    const workspaceId = await stores.openWorkspace();
    await stores.acceptEmails(workspaceId, 3);
    expect(await deletion.close(workspaceId, OPERATOR, {})).toMatchObject({ identities: 1 });
    expect(await deletion.finish(workspaceId, OPERATOR, {})).toBeUndefined();
    expect(await deletion.close(workspaceId, OPERATOR, {})).toMatchObject({ identities: 0 });
    expect(await deletion.removeEmails(workspaceId)).toMatchObject({ deleted: { emails: 3 }, cancelled: 3 });
    expect(await deletion.finish(workspaceId, OPERATOR, {})).toMatchObject({
      workspaces: 1,
      paused_lanes: 2,
    });
    expect(await deletion.finish(workspaceId, OPERATOR, {})).toMatchObject({
      workspaces: 0,
      paused_lanes: 0,
    });
  });

  it('keeps a person who is a member of another workspace too', async () => {
    const [workspaceId, another] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const [alone, shared] = [newUuid(Date.now()), newUuid(Date.now())];
    for (const id of [alone, shared])
      await stores.ask(`INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, 'Ada', now())`, [
        id,
        `${id}@example.net`,
      ]);
    for (const [workspace, user] of [
      [workspaceId, alone],
      [workspaceId, shared],
      [another, shared],
    ])
      await stores.ask(
        `INSERT INTO memberships (id, workspace_id, user_id, role, created_at) VALUES ($1, $2, $3, 'EDITOR', now())`,
        [newUuid(Date.now()), uuidOf(workspace as WorkspaceId), user],
      );
    expect(await deletion.close(workspaceId, OPERATOR, {})).toMatchObject({ memberships: 2, users: 1 });
    expect(await stores.ask('SELECT id FROM users')).toEqual([{ id: shared }]);
  });
});

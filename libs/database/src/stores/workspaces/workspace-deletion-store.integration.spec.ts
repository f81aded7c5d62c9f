import { describe, expect, it } from '@jest/globals';
import { newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { operator, webhookLane } from '@posthorn/domain';
import { DeliveryTestStores } from '../webhooks/deliveries.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { LOCK_RECEIVERS } from '../../sql/deliveries.ts';
import { APPLY_RECEIVER_CHANGES } from '../../sql/receiver-health.ts';
import { executedPlan, pagesTouched } from '../../sql/plan.fixture.ts';
import {
  firstOf,
  LARGE_TABLES,
  type LargeTable,
  LOCK_USERS,
  REMOVE_FORMER_MEMBERS,
  REMOVE_MEMBERS,
  removeNext,
} from '../../sql/workspace-deletion.ts';
import { MemberTestStores } from '../members/members.fixture.ts';
import type { TableCounts } from '../retention/table-counts.ts';
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
      [
        APPLY_RECEIVER_CHANGES,
        [
          new Date(),
          [uuidOf(webhookId)],
          [uuidOf(workspaceId)],
          [new Date()],
          [null],
          [true],
          ['DISABLED_GONE'],
        ],
      ],
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

describe('Removing the rows of a workspace', () => {
  const CROWD = 3_000;
  const EACH: Readonly<Record<LargeTable, string>> = {
    contacts: `INSERT INTO contacts (id, workspace_id, email) SELECT gen_random_uuid(), $1, n || '@example.net' FROM n`,
    suppressions: `INSERT INTO suppressions (id, workspace_id, email, reason, created_by)
                   SELECT gen_random_uuid(), $1, n || '@example.net', 'MANUAL', '{}' FROM n`,
    erased_recipients: `INSERT INTO erased_recipients (workspace_id, address_hash) SELECT $1, sha256(n::text::bytea) FROM n`,
    idempotency_keys: `INSERT INTO idempotency_keys SELECT $1, 'key ' || n, sha256('x'), '{}', now() FROM n`,
    audit_log: `INSERT INTO audit_log (id, workspace_id, action, actor, subject_id)
                SELECT gen_random_uuid(), $1, 'contact.updated', '{}', n::text FROM n`,
  };

  it.each(LARGE_TABLES)(
    'reads of %s only the next ones, however many were removed before and are still there for somebody else',
    async (table) => {
      const workspaceId = await stores.openWorkspace();
      const n = `WITH n AS (SELECT generate_series(1, ${CROWD}) AS n)`;
      await stores.ask(`${n} ${EACH[table]}`, [uuidOf(workspaceId)]);
      const pagesOf = async (after: unknown): Promise<number> => {
        const client = await stores.database.pool.connect();
        await client.query('BEGIN');
        const values = [uuidOf(workspaceId), after, 500];
        const plan = await executedPlan(client, { text: removeNext(table), values });
        await client.query('ROLLBACK');
        client.release();
        return pagesTouched(plan);
      };
      const first = await pagesOf(firstOf(table));
      const dump = await stores.database.pool.connect();
      await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM workspaces');
      let group = await deletion.removeRows(workspaceId, [table, firstOf(table)]);
      for (let removed = 0; removed < CROWD - 1_000; removed += 500) {
        expect(group!.deleted).toEqual({ [table]: 500 });
        group = await deletion.removeRows(workspaceId, group!.end);
      }
      const last = await pagesOf(group!.end[1]);
      await dump.query('COMMIT');
      dump.release();
      expect(last).toBeLessThan(first * 1.5);
      while (group !== undefined) group = await deletion.removeRows(workspaceId, group.end);
      expect(await stores.count(table, 'workspace_id = $1', [uuidOf(workspaceId)])).toBe(0);
    },
  );

  it('removes the versions of templates, also of deleted ones, before their last transaction', async () => {
    const workspaceId = await stores.openWorkspace();
    await stores.ask(
      `WITH n AS (SELECT gen_random_uuid() AS id, gen_random_uuid() AS version, n FROM generate_series(1, 600) n),
            t AS (INSERT INTO templates (id, workspace_id, name, current_version_id, deleted_at)
                  SELECT id, $1, n::text, version, CASE WHEN n % 2 = 0 THEN now() END FROM n)
       INSERT INTO template_versions (id, template_id, number, from_address, subject, html, required)
       SELECT CASE WHEN v = 2 THEN n.version ELSE gen_random_uuid() END, n.id, v, 'a@example.com', '', '', '{}'
       FROM   n, generate_series(1, 3) v`,
      [uuidOf(workspaceId)],
    );
    const groups: TableCounts[] = [];
    let group = await deletion.removeTemplates(workspaceId);
    for (; group !== undefined; group = await deletion.removeTemplates(workspaceId))
      groups.push(group.deleted);
    expect(groups).toEqual([
      { template_versions: 500 },
      { template_versions: 500 },
      { template_versions: 200 },
      { templates: 500, template_versions: 500 },
      { templates: 100, template_versions: 100 },
    ]);
    expect(await deletion.finish(workspaceId, OPERATOR, {})).toMatchObject({
      workspaces: 1,
      templates: 0,
      template_versions: 0,
    });
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
    const [alone, shared] = [await addUser(), await addUser()];
    for (const [workspace, user] of [
      [workspaceId, alone],
      [workspaceId, shared],
      [another, shared],
    ] as const)
      await stores.ask(...membership(workspace, user));
    expect(await deletion.close(workspaceId, OPERATOR, {})).toMatchObject({ memberships: 2, users: 1 });
    expect(await usersAmong([alone, shared])).toEqual([shared]);
  });

  it('keeps a person who becomes a member of another workspace at that moment', async () => {
    const [workspaceId, another] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const user = await addUser();
    await stores.ask(...membership(workspaceId, user));
    const closed = await during([membership(another, user)], () => deletion.close(workspaceId, OPERATOR, {}));
    expect(closed).toMatchObject({ memberships: 1, users: 0 });
    expect(await usersAmong([user])).toEqual([user]);
  });

  it('does not prevent a person who is deleted with it from accepting the invitation of another workspace', async () => {
    const [workspaceId, another] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const members = new MemberTestStores(stores);
    const { id, email } = await members.join(workspaceId, 'eve@example.net');
    const { tokenHash } = await members.invite(another, email);
    const removed: [string, unknown[]][] = [
      [REMOVE_MEMBERS, [uuidOf(workspaceId)]],
      [REMOVE_FORMER_MEMBERS, [[uuidOf(id)]]],
    ];
    expect(await during(removed, () => members.accept(tokenHash))).toMatchObject({
      acceptedAt: expect.any(Date),
    });
    expect(await members.membersOf(another)).toMatchObject([{ email }]);
  });

  it('deletes a person whose workspaces are all being deleted, also concurrently', async () => {
    const [workspaceId, another] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const user = await addUser();
    for (const each of [workspaceId, another]) await stores.ask(...membership(each, user));
    const removed: [string, unknown[]][] = [
      [REMOVE_MEMBERS, [uuidOf(another)]],
      [LOCK_USERS, [[user]]],
      [REMOVE_FORMER_MEMBERS, [[user]]],
    ];
    const closed = await during(removed, () => deletion.close(workspaceId, OPERATOR, {}));
    expect(closed).toMatchObject({ memberships: 1, users: 1 });
    expect(await usersAmong([user])).toEqual([]);
  });
});

async function addUser(): Promise<string> {
  const id = newUuid(Date.now());
  await stores.ask(`INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, 'Ada', now())`, [
    id,
    `${id}@example.net`,
  ]);
  return id;
}

function membership(workspaceId: WorkspaceId, userId: string): [string, unknown[]] {
  return [
    `INSERT INTO memberships (id, workspace_id, user_id, role, created_at) VALUES ($1, $2, $3, 'EDITOR', now())`,
    [newUuid(Date.now()), uuidOf(workspaceId), userId],
  ];
}

/** Which of these users there are. */
async function usersAmong(ids: readonly string[]): Promise<string[]> {
  const rows = await stores.ask<{ id: string }>('SELECT id FROM users WHERE id = ANY ($1)', [ids]);
  return rows.map(({ id }) => id);
}

import { beforeAll, describe, expect, it } from '@jest/globals';
import { type EndedProgram, runOperatorCommand } from '@posthorn/testing';
import { WorkspaceDeletionStore } from '@posthorn/database';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { emailIn } from './api.ts';
import { orphansOf, rowsOf } from './leftovers.ts';
import { newRecipient, Stack, type Tenant, TESTS, until, validEmail, takesAll } from './stack.ts';
import { fromNow } from './times.ts';

const DAY_MS = 86_400_000;
const NAME = 'End to end';
/** The recipient of an email that the relay answers only when the test says so. */
const LEAVING = 'leaving@receiver.example';
const UNKNOWN = 'unknown@receiver.example';

let other: Tenant;
let scheduledId: string;
let relayHeard = false;
let letRelayAnswer: () => void;
const relayMayAnswer = new Promise<void>((resolve) => (letRelayAnswer = resolve));

const stack = Stack.forTests({
  receives: takesAll,
  sink: {
    script: (stage, { to }) => {
      if (stage !== 'rcpt') return undefined;
      if (to.includes(UNKNOWN)) return { reply: '550 5.1.1 unknown' };
      if (!to.includes(LEAVING)) return undefined;
      relayHeard = true;
      return { reply: '250 2.1.5 ok', after: relayMayAnswer };
    },
  },
});
beforeAll(async () => {
  other = await stack.createTenant('Other');
  scheduledId = await fill(stack.tenant);
  await fill(other);
});

/** Uses whatever a workspace can have. @returns the id of a scheduled email */
async function fill({ workspaceId, keys }: Tenant): Promise<string> {
  const api = stack.apiAs(keys.editor);
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await api.post(path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer.body;
  };
  const events = ['CONTACT_CREATED', 'EMAIL_SENT', 'EMAIL_BOUNCED'];
  const { webhook } = (await post('/v1/webhooks', {
    url: stack.receiver.url('/hook'),
    events,
  })) as Made<'webhook'>;
  const made = (await post('/v1/webhooks', {
    url: stack.receiver.url('/paused'),
    events,
  })) as Made<'webhook'>;
  await post(`/v1/webhooks/${made.webhook.id}`, { status: 'PAUSED' });
  await post('/v1/templates', {
    name: 'welcome',
    from: 'hello@example.com',
    subject: 'Hi',
    html: '<p>Hi</p>',
  });
  await post('/v1/identities', { domain: 'shop.example' });
  await post('/v1/identities', { address: newRecipient() });
  await post('/v1/invitations', { email: newRecipient(), name: 'Ada', role: 'EDITOR' });
  await post('/v1/suppressions', { email: newRecipient() });
  await post('/v1/erasures', { email: newRecipient() });
  await post('/v1/emails', { ...validEmail(), idempotencyKey: 'one', contactProperties: { name: 'Ada' } });
  await post('/v1/emails', { ...validEmail(), to: UNKNOWN });
  await post('/v1/emails/batch', { emails: [{ to: newRecipient(), template: 'welcome' }, validEmail()] });
  const scheduled = await api.post('/v1/emails', { ...validEmail(), sendAt: fromNow(DAY_MS) });
  await until(() => stack.receiver.posts.length > 0, 'the webhook is told');
  await post(`/v1/webhooks/${webhook.id}/recover`, { since: fromNow(-DAY_MS) });
  await addByHand(uuidOf(workspaceId), uuidOf(webhook.id as WorkspaceId));
  return emailIn(scheduled).id;
}

type Made<Name extends string> = Record<Name, { readonly id: string }>;

/** What would otherwise need a person, days or a second command. */
async function addByHand(workspaceId: string, webhookId: string): Promise<void> {
  const { pool } = stack.database;
  for (const sql of [
    `INSERT INTO email_engagements (email_id, workspace_id, opens, clicks, machine_opens, machine_clicks)
     SELECT id, $1, 1, 0, 0, 0 FROM emails WHERE workspace_id = $1 LIMIT 1`,
    `INSERT INTO erased_recipients (workspace_id, address_hash) VALUES ($1, sha256('ada'))`,
    `INSERT INTO retention_rounds (workspace_id, subject, next_at) VALUES ($1, 'events', now() + interval '1 day')`,
    `WITH u AS (INSERT INTO users (id, email, name, created_at) VALUES (gen_random_uuid(), $1::text || '@example.net', 'Ada', now()) RETURNING id)
     INSERT INTO memberships (id, workspace_id, user_id, role, created_at) SELECT gen_random_uuid(), $1::uuid, id, 'EDITOR', now() FROM u`,
  ])
    await pool.query(sql, [workspaceId]);
  await pool.query(`INSERT INTO slow_lanes (lane_id) VALUES (type_id('wh', $1))`, [webhookId]);
}

/** Adds a notice, which the gateway mails and removes at any time: just before it is needed. */
async function addNotice({ workspaceId }: Tenant): Promise<void> {
  const sql = `INSERT INTO webhook_notices (workspace_id, webhook_id, kind)
     SELECT workspace_id, id, (enum_range(NULL::webhook_notice_kind))[1] FROM webhooks WHERE workspace_id = $1 LIMIT 1`;
  await stack.database.pool.query(sql, [uuidOf(workspaceId)]);
}

const remove = (...flags: string[]): Promise<EndedProgram> =>
  runOperatorCommand(stack.databaseUrl, 'workspace', 'delete', ...flags);

describe('Deleting a workspace', () => {
  it('needs its name, and says which it is; nothing is changed without it', async () => {
    const before = await rowsOf(stack, stack.tenant.workspaceId);
    expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([['webhook_notices', 0]]);
    const { workspaceId } = stack.tenant;
    expect(await remove('--workspace', workspaceId)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--name'),
    });
    expect(await remove('--workspace', workspaceId, '--name', 'Other')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is called "End to end"'),
    });
    expect(await remove('--workspace', 'wrk_0000000000e008000000000000', '--name', 'system')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the system itself'),
    });
    expect(await rowsOf(stack, stack.tenant.workspaceId)).toMatchObject({
      api_keys: before['api_keys'],
      emails: before['emails'],
    });
    expect((await stack.send()).status).toBe(200);
  });

  it('removes everything in it once what is being sent has left, refuses its keys at once, and leaves others alone', async () => {
    const busy = `SELECT (SELECT count(*) FROM outbox WHERE queue = 'event' OR (queue = 'email' AND state <> 'waiting'))
                       + (SELECT count(*) FROM erasures WHERE state <> 'COMPLETED') AS count`;
    await until(async () => (await stack.count(busy)) === 0, 'nothing more happens by itself');
    const before = await rowsOf(stack, other.workspaceId);
    await stack.send({ to: LEAVING });
    await until(() => relayHeard, 'an email is being sent');
    await addNotice(stack.tenant);
    const deleting = remove('--workspace', stack.tenant.workspaceId, '--name', NAME, '--json');
    await until(async () => (await stack.send()).status === 401, 'the key is refused');
    await until(
      async () => (await rowsOf(stack, stack.tenant.workspaceId))['emails'] === 1,
      'only that email is left',
    );
    letRelayAnswer();
    const { code, stdout, stderr } = await deleting;
    // Its progress, if it took seconds.
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(?:\d+ rows deleted …\n)*$/)]);
    expect(JSON.parse(stdout)).toMatchObject({
      workspaceId: stack.tenant.workspaceId,
      name: NAME,
      deletedAt: expect.any(String),
      inProgress: 0,
      deleted: { workspaces: 1, api_keys: 3, templates: 1, users: 1, emails: expect.any(Number) },
    });
    expect(stack.mailsTo(LEAVING)).toHaveLength(1);
    const left = Object.entries(await rowsOf(stack, stack.tenant.workspaceId)).filter(
      ([, count]) => count > 0,
    );
    expect(left).toEqual([]);
    expect(Object.entries(await orphansOf(stack)).filter(([, count]) => count > 0)).toEqual([]);
    expect(await rowsOf(stack, other.workspaceId)).toEqual(before);
    expect(await stack.outboxRow(scheduledId)).toBeUndefined();
  });

  it('is recorded in the log of the system, and cannot be done twice', async () => {
    const { rows } = await stack.database.pool.query(
      `SELECT action, detail FROM audit_log WHERE subject_id = $1 ORDER BY id`,
      [stack.tenant.workspaceId],
    );
    expect(rows).toEqual([
      { action: 'workspace.deletion_begun', detail: { name: NAME } },
      { action: 'workspace.deleted', detail: { name: NAME } },
    ]);
    expect(await remove('--workspace', stack.tenant.workspaceId, '--name', NAME)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no workspace'),
    });
  });

  it('that was interrupted cannot be undone by resuming the workspace, whatever it was paused for before', async () => {
    const { workspaceId, keys } = await stack.createTenant('Interrupted');
    const whose = ['--workspace', workspaceId];
    await runOperatorCommand(stack.databaseUrl, 'pause', ...whose, '--reason', 'They pay no more');
    const to = newRecipient();
    await stack.send({ to }, { key: keys.apiUser });
    // What a process leaves that is killed after its first transaction.
    await new WorkspaceDeletionStore(stack.database).close(workspaceId, TESTS, { name: 'Interrupted' });
    const { stdout } = await runOperatorCommand(stack.databaseUrl, 'status');
    expect(stdout).toContain('The workspace is being deleted');
    expect(await runOperatorCommand(stack.databaseUrl, 'resume', ...whose)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${workspaceId} is being deleted`),
    });
    expect((await remove(...whose, '--name', 'Interrupted', '--json')).code).toBe(0);
    expect(stack.mailsTo(to)).toEqual([]);
    expect(await runOperatorCommand(stack.databaseUrl, 'resume', ...whose)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no workspace'),
    });
  });

  it('leaves the apps working for the others', async () => {
    const to = newRecipient();
    expect((await stack.send({ to }, { key: other.keys.apiUser })).status).toBe(200);
    await stack.onlyMailTo(to);
    expect(stack.logs.split('\n').filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});

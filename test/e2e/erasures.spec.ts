import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { runOperatorCommand } from '@posthorn/testing';
import { type Answer, emailIn, isReplay } from './api.ts';
import { mentionsOf } from './mentions.ts';
import { newRecipient, Stack, type Tenant, until, validEmail, takesAll } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

interface Erasure {
  readonly id: string;
  readonly recipient: string;
  readonly status: string;
  readonly deleted: Record<string, number>;
  readonly redacted: Record<string, number>;
  readonly left: Record<string, number>;
  readonly isRemembered: boolean;
  readonly cancelled: number;
  readonly inProgress: number;
  readonly searched: number;
  readonly finishedAt: string | null;
}

/** Occurs nowhere else in the run. */
const CANARY = 'canary-w4xq';
const PERSON = `${CANARY}@receiver.example`;

const stack = Stack.forTests({ receives: takesAll });

const post = (tenant: Tenant, path: string, body: object): Promise<Answer> =>
  stack.api().post(path, body, { key: tenant.keys.editor });
const request = (body: object, tenant = stack.tenant): Promise<Answer> => post(tenant, '/v1/erasures', body);
const erasureIn = ({ status, text, body }: Answer): Erasure => {
  if (status !== 200) throw new Error(text);
  return body['erasure'] as Erasure;
};
const read = async (id: string, { keys } = stack.tenant): Promise<Erasure> =>
  erasureIn(await stack.api().get(`/v1/erasures/${id}`, { key: keys.viewer }));

async function erase(body: object, tenant = stack.tenant): Promise<Erasure> {
  const { id } = erasureIn(await request(body, tenant));
  await until(async () => (await read(id, tenant)).status === 'COMPLETED', 'it is completed');
  return read(id, tenant);
}

/** Stores a person wherever a workspace can have them. @returns a scheduled email to them */
async function leaveTraces(tenant: Tenant, person: string): Promise<string> {
  const done = async (path: string, body: object): Promise<Answer> => {
    const answer = await post(tenant, path, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
    return answer;
  };
  const path = `/of-${tenant.workspaceId}`;
  await done('/v1/webhooks', { url: stack.receiver.url(path), events: ['CONTACT_CREATED', 'EMAIL_SENT'] });
  const email = { ...validEmail(), to: person };
  await done('/v1/emails', { ...email, idempotencyKey: 'one', contactProperties: { name: 'Ada' } });
  await done('/v1/emails', { ...email, idempotencyKey: `welcome-${person}` });
  const attachments = [{ filename: `${person}.txt`, content: 'eA==' }];
  const naming = { replyTo: person, html: `<p>Ask ${person}</p>`, groupBy: `of-${person}`, attachments };
  await done('/v1/emails', { ...validEmail(), ...naming });
  await done('/v1/emails/batch', { emails: [email, validEmail()] });
  await done('/v1/contacts', { email: newRecipient(), properties: { friend: person } });
  await done('/v1/invitations', { email: person, name: 'Ada', role: 'API_USER' });
  const scheduled = await done('/v1/emails', { ...email, sendAt: fromNow(DAY_MS) });
  await until(
    async () =>
      (await stack.count(`SELECT count(*)::int FROM outbox WHERE state <> 'waiting'`)) === 0 &&
      (await stack.count(`SELECT count(*)::int FROM outbox WHERE queue <> 'email'`)) === 0,
    'nothing is due but what is scheduled',
  );
  await done('/v1/suppressions', { email: person, reason: 'COMPLAINT' });
  return emailIn(scheduled).id;
}

describe('Erasing a person by HTTP', () => {
  it('S21: erases all that the workspace has about the address, in any case, and says how much, without the address', async () => {
    const scheduled = await leaveTraces(stack.tenant, PERSON);
    const erased = await erase({
      email: PERSON.toUpperCase().replace('RECEIVER.EXAMPLE', 'receiver.example'),
    });
    expect(erased).toMatchObject({
      recipient: createHash('sha256').update(PERSON).digest('hex'),
      left: {},
      inProgress: 0,
      isRemembered: true,
      finishedAt: expect.any(String),
      deleted: {
        emails: 4,
        emailContents: 4,
        contacts: 1,
        suppressions: 1,
        invitations: 1,
        idempotencyKeys: 1,
      },
      redacted: { emails: 1, emailContents: 1, contacts: 1, idempotencyKeys: expect.any(Number) },
    });
    expect(erased.deleted['webhookDeliveries']).toBeGreaterThan(0);
    expect(erased.searched).toBeGreaterThan(10);
    expect(erased.cancelled).toBe(1);
    await forgetSystemMails();
    expect(await mentionsOf(stack, CANARY)).toEqual([]);
    expect((await stack.api().get(`/v1/emails/${scheduled}`)).status).toBe(404);
    expect(JSON.stringify(erased)).not.toContain('receiver.example');
  });

  it('S11, S21: still answers the repeated call, and sends nothing', async () => {
    const before = await stack.count('SELECT count(*)::int FROM emails');
    const body = { idempotencyKey: 'one', contactProperties: { name: 'Ada' } };
    const again = await post(stack.tenant, '/v1/emails', { ...validEmail(), to: PERSON, ...body });
    expect([isReplay(again), emailIn(again).to]).toEqual([true, '[erased]']);
    expect(await stack.count('SELECT count(*)::int FROM emails')).toBe(before);
  });

  it('S19, S21: still sends nothing to whom nothing may be sent, and with `suppress` to nobody who was erased', async () => {
    const other = newRecipient();
    expect(await erase({ email: other, suppress: true })).toMatchObject({
      isRemembered: true,
      suppress: true,
    });
    for (const to of [PERSON, other]) {
      const { id } = emailIn(await stack.send({ to }));
      await until(async () => (await stack.show(id)).status === 'SUPPRESSED', 'it is withheld');
    }
    await erase({ email: PERSON });
  });

  it('S21: changes nothing of another workspace that sends to the same address, which can erase it too', async () => {
    const person = newRecipient();
    const [mine, other] = [await stack.createTenant('Mine'), await stack.createTenant('Other')];
    await leaveTraces(mine, person);
    const theirs = await leaveTraces(other, person);
    const before = await rowsOf(other);
    const [ofMine] = await Promise.all([erase({ email: person }, mine), stack.send()]);
    expect(await rowsOf(other)).toEqual(before);
    const key = other.keys.viewer;
    expect((await stack.api().get(`/v1/emails/${theirs}`, { key })).body['email']).toMatchObject({
      to: person,
      status: 'SCHEDULED',
    });
    const { id: _, recipient, ...ofOther } = await erase({ email: person }, other);
    expect(recipient).toBe(ofMine.recipient);
    expect(ofOther).toMatchObject({
      deleted: ofMine.deleted,
      cancelled: ofMine.cancelled,
      left: ofMine.left,
    });
  });

  it('S21: does to a workspace what the command of the operator does', async () => {
    const person = newRecipient();
    const [byHttp, byCommand] = [await stack.createTenant('One'), await stack.createTenant('Two')];
    await leaveTraces(byHttp, person);
    await leaveTraces(byCommand, person);
    const { deleted, left, cancelled } = await erase({ email: person }, byHttp);
    const flags = ['--workspace', byCommand.workspaceId, '--json'];
    const { stdout } = await runOperatorCommand(stack.databaseUrl, 'erase-recipient', person, ...flags);
    const receipt = JSON.parse(stdout) as Pick<Erasure, 'deleted' | 'left' | 'cancelled'>;
    const named = Object.entries(receipt.deleted).map(([table, count]): [string, number] => [
      table.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      count,
    ]);
    expect({ deleted, left, cancelled }).toEqual({
      deleted: Object.fromEntries(named),
      left: receipt.left,
      cancelled: receipt.cancelled,
    });
  });

  it('S21: requested again, also at the same moment, is the same one until it is completed', async () => {
    const email = newRecipient();
    const answers = await Promise.all(Array.from({ length: 5 }, () => request({ email })));
    const ids = new Set(answers.map((answer) => erasureIn(answer).id));
    expect(ids.size).toBe(1);
    const [id] = [...ids];
    await until(async () => (await read(id!)).status === 'COMPLETED', 'it is completed');
    const again = await erase({ email });
    expect([again.id === id, again.deleted, again.cancelled]).toEqual([false, {}, 0]);
  });

  it('S21: is in the audit log with the key that requested it, without the address', async () => {
    const email = newRecipient();
    const { id } = await erase({ email });
    const key = stack.tenant.keys.editor;
    const answer = await stack.api().get(`/v1/audit-log?subjectId=${id}&sort=createdAt.asc`, { key });
    expect(answer.body['auditLog']).toMatchObject({
      items: [
        { action: 'recipient.erased', actor: { kind: 'api_key' }, detail: { begun: true } },
        { action: 'recipient.erased', actor: { kind: 'system' }, detail: { completed: true, cancelled: 0 } },
      ],
    });
    expect(answer.text).not.toContain(email);
  });

  it('S21: causes no event, and an event about the person is not posted any more', async () => {
    const tenant = await stack.createTenant('Silent');
    const url = stack.receiver.url('/silent');
    const webhook = await post(tenant, '/v1/webhooks', {
      url,
      events: ['CONTACT_CREATED', 'CONTACT_DELETED'],
    });
    const { id } = webhook.body['webhook'] as { id: string };
    await post(tenant, `/v1/webhooks/${id}`, { status: 'PAUSED' });
    const email = newRecipient();
    await post(tenant, '/v1/contacts', { email });
    await until(
      async () => (await stack.count(`SELECT count(*)::int FROM outbox WHERE lane_id = $1`, [id])) === 1,
      'it is held',
    );
    await erase({ email }, tenant);
    const events = await stack.api().get('/v1/events', { key: tenant.keys.viewer });
    expect(events.body['events']).toMatchObject({ items: [] });
    expect(await stack.count(`SELECT count(*)::int FROM outbox WHERE lane_id = $1`, [id])).toBe(0);
  });

  it('S21: leaves members, and templates that name the person, and says where', async () => {
    const email = newRecipient();
    const template = {
      name: 'of-one',
      from: 'hello@example.com',
      subject: 'Hi',
      html: `<p>Ask ${email}</p>`,
    };
    await post(stack.tenant, '/v1/templates', template);
    expect(await erase({ email })).toMatchObject({ left: { templateVersions: 1 } });
  });

  it('K2, A3: needs an EDITOR; any key of the workspace reads it, and no key of another', async () => {
    const email = newRecipient();
    for (const key of [stack.tenant.keys.apiUser, stack.tenant.keys.viewer])
      expect((await stack.api().post('/v1/erasures', { email }, { key })).status).toBe(403);
    const { id } = erasureIn(await request({ email }));
    expect((await read(id)).id).toBe(id);
    const { keys } = await stack.createTenant('Curious');
    const foreign = await stack.api().get(`/v1/erasures/${id}`, { key: keys.editor });
    const unknown = await stack
      .api()
      .get('/v1/erasures/ers_01m7yxt5zwexraawhax4wxnnqq', { key: keys.editor });
    expect([foreign.status, foreign.body]).toEqual([404, unknown.body]);
  });

  it('S21, G3: more than 100 that are not completed are 409, but one of them can be requested again', async () => {
    const tenant = await stack.createTenant('Many');
    await stack.database.pool.query(
      `INSERT INTO erasures (id, workspace_id, address_hash, address, is_suppressing, created_at, next_at)
       SELECT gen_random_uuid(), $1, sha256(address::bytea), address, false, now(), now() + interval '1 hour'
       FROM   generate_series(0, 99) n, LATERAL (SELECT 'n-' || n || '@receiver.example') a (address)`,
      [uuidOf(tenant.workspaceId)],
    );
    const more = await request({ email: 'n-100@receiver.example' }, tenant);
    expect([more.status, more.body['message']]).toEqual([
      409,
      expect.stringContaining('has 100 erasures that are not completed'),
    ]);
    expect(erasureIn(await request({ email: 'N-0@receiver.example' }, tenant)).status).toBe('REMOVING');
    const sql = 'SELECT count(*)::int FROM erasures WHERE workspace_id = $1';
    expect(await stack.count(sql, [uuidOf(tenant.workspaceId)])).toBe(100);
    expect((await request({ email: 'n-100@receiver.example' })).status).toBe(200);
  });
});

/** Removes the mail with the invitation, which is Posthorn's own, so that only what workspaces have is left. */
async function forgetSystemMails(): Promise<void> {
  for (const table of ['emails', 'idempotency_keys'])
    await stack.database.pool.query(`DELETE FROM ${table} WHERE workspace_id = $1`, [
      uuidOf(SYSTEM_WORKSPACE_ID),
    ]);
}

/** What a workspace has, which an erasure in another one may not change. */
async function rowsOf({ workspaceId }: Tenant): Promise<string[]> {
  const rows: string[] = [];
  for (const table of ['emails', 'contacts', 'suppressions', 'invitations', 'idempotency_keys', 'usage']) {
    const sql = `SELECT t::text AS row FROM ${table} t WHERE type_id('wrk', workspace_id) = $1 ORDER BY 1`;
    const found = await stack.database.pool.query<{ row: string }>(sql, [workspaceId]);
    rows.push(...found.rows.map(({ row }) => `${table}: ${row}`));
  }
  return rows;
}

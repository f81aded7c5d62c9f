import { describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { hashSecret } from '@posthorn/signing';
import { type Answer, partIn, type RequestOptions, statusesOf } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { parseMail } from './mail.ts';
import { newRecipient, type Role, Stack, type Tenant, until } from './stack.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const DAY_MS = 86_400_000;

interface ShownInvitation {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  readonly status: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly acceptedAt: string | null;
  readonly revokedAt: string | null;
}
interface ShownMember {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: string;
  readonly createdAt: string;
}

const stack = Stack.forTests({ gateways: 2 });
let tenant: Tenant;
let tenants = 0;

/** A separate workspace for a test. */
async function newTenant(): Promise<Tenant> {
  return (tenant = await stack.createTenant(`Acme & <Sons> ${(tenants += 1)}`));
}

const as = (name: Role = 'editor', of = tenant): RequestOptions => ({ key: of.keys[name] });
const post = (path: string, body: unknown, options = as()): Promise<Answer> =>
  stack.api().post(path, body, options);
/** A POST without a body. */
const ring = (path: string): Promise<Answer> => stack.api().request('POST', path, undefined, as());
const get = (path: string, options = as()): Promise<Answer> => stack.api().get(path, options);
const remove = (id: string): Promise<Answer> =>
  stack.api().request('DELETE', `/v1/members/${id}`, undefined, as());

async function invited(body: object = {}): Promise<ShownInvitation> {
  const wanted = { email: newRecipient(), role: 'EDITOR', ...body };
  return partIn(await post('/v1/invitations', wanted), 'invitation');
}

/** Submits the page's form without fields, like a browser. */
function accept(path: string): Promise<Answer> {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return stack.api().request('POST', path, '', { key: null, headers });
}
const open = (path: string): Promise<Answer> => stack.api().get(path, { key: null });

async function joined(body: object = {}): Promise<ShownMember> {
  const { email } = await invited(body);
  expect((await accept(await stack.linkMailedTo(email))).text).toContain('Welcome');
  return (await members()).find((member) => member.email === email)!;
}

async function members(): Promise<ShownMember[]> {
  const page = partIn<{ items: ShownMember[] }>(await get('/v1/members'), 'members');
  return page.items;
}

async function actions(): Promise<unknown[]> {
  const answer = await get('/v1/audit-log?sort=createdAt.asc');
  const { items } = partIn<{ items: { action: string; actor: object; detail: object; subjectId: string }[] }>(
    answer,
    'auditLog',
  );
  return items
    .filter(({ action }) => action.startsWith('member.'))
    .map(({ action, actor, detail, subjectId }) => ({ action, actor, detail, subjectId }));
}

async function events(): Promise<unknown[]> {
  const { rows } = await stack.database.pool.query<{ payload: string }>(
    'SELECT payload FROM events WHERE workspace_id = $1 ORDER BY id',
    [uuidOf(tenant.workspaceId)],
  );
  return rows.map(({ payload }) => JSON.parse(payload) as unknown);
}

describe('POST /v1/invitations', () => {
  it('N4, W11: mails a link to a page whose button creates a member', async () => {
    await newTenant();
    const email = newRecipient();
    const answer = await post('/v1/invitations', { email, role: 'API_USER', name: ' Ada Lovelace ' });
    const invitation = partIn<ShownInvitation>(answer, 'invitation');
    expect(invitation).toEqual({
      id: expect.stringMatching(/^inv_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      email,
      name: 'Ada Lovelace',
      role: 'API_USER',
      status: 'OPEN',
      createdAt: TIME,
      expiresAt: TIME,
      acceptedAt: null,
      revokedAt: null,
    });
    expect(Date.parse(invitation.expiresAt) - Date.parse(invitation.createdAt)).toBe(7 * DAY_MS);
    expect(await members()).toEqual([]);

    const mail = await parseMail(await stack.onlyMailTo(email));
    expect(mail.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
    expect(mail.from).toMatchObject({ address: 'posthorn@example.com' });
    const link = /https?:\/\/\S+/.exec(mail.text!)![0];
    expect(mail.html).toContain(`href="${link}"`);
    expect(mail.html).toContain('Acme &amp; &lt;Sons&gt;');
    expect(`${mail.subject} ${mail.text} ${mail.html}`).not.toContain('Ada');

    const path = new URL(link).pathname;
    const page = await open(path);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain(`Yes, join Acme &amp; &lt;Sons&gt;`);
    expect(await members()).toEqual([]);
    expect((await accept(path)).text).toContain('Welcome');
    expect(await members()).toEqual([
      {
        id: expect.stringMatching(/^usr_/),
        email,
        name: 'Ada Lovelace',
        role: 'API_USER',
        createdAt: TIME,
      },
    ]);
    const [member] = await members();
    expect(partIn(await get(`/v1/members/${member!.id}`), 'member')).toEqual(member);
    expect(await events()).toEqual([
      {
        event: 'WORKSPACE_TEAM_MEMBER_JOINED',
        createdAt: member!.createdAt,
        data: {
          workspace: { id: tenant.workspaceId, name: `Acme & <Sons> ${tenants}` },
          user: { id: member!.id, email, name: 'Ada Lovelace' },
        },
      },
    ]);
    expect(await actions()).toEqual([
      {
        action: 'member.invited',
        actor: expect.objectContaining({ kind: 'api_key', name: 'EDITOR' }),
        detail: { email, role: 'API_USER' },
        subjectId: invitation.id,
      },
      {
        action: 'member.joined',
        actor: { kind: 'user', id: member!.id, name: 'Ada Lovelace' },
        detail: { email, role: 'API_USER', invitationId: invitation.id },
        subjectId: member!.id,
      },
    ]);
    const after = partIn<ShownInvitation>(await get(`/v1/invitations/${invitation.id}`), 'invitation');
    expect(after).toMatchObject({ status: 'ACCEPTED', acceptedAt: member!.createdAt });
  });

  it('stores the token of the link only as a hash, and never logs it', async () => {
    await newTenant();
    const { email } = await invited();
    const path = await stack.linkMailedTo(email);
    await accept(path);
    const token = path.split('/').at(-1)!;
    const { rows } = await stack.database.pool.query<{ row: string; hash: Buffer }>(
      `SELECT i::text || m::text AS row, token_hash AS hash
       FROM   invitations i JOIN invitation_mails m ON m.invitation_id = i.id WHERE i.email = $1`,
      [email],
    );
    expect(rows.map(({ hash }) => hash)).toEqual([hashSecret(token)]);
    expect(rows[0]!.row + stack.logs).not.toContain(token.slice(4));
  });

  it('creates one invitation for two concurrent calls for one address, on two gateways, and sends one mail', async () => {
    await newTenant();
    const email = newRecipient();
    const calls = [0, 1, 0, 1].map((gateway) =>
      stack.api(gateway).post('/v1/invitations', { email, role: 'VIEWER' }, as()),
    );
    const answers = await Promise.all(calls);
    expect(statusesOf(answers).sort()).toEqual([200, 409, 409, 409]);
    const { id } = partIn<ShownInvitation>(
      answers.find(({ status }) => status === 200)!,
      'invitation',
    );
    expect(answers.find(({ status }) => status === 409)!.body).toEqual({
      statusCode: 409,
      error: 'Conflict',
      message: `\`email\` is invited already, ${id}; send that invitation again, or revoke it first`,
    });
    await stack.onlyMailTo(email);
  });

  it('is 409 for the address of a member, and 429 past five mails a day to an address', async () => {
    await newTenant();
    const { id, email } = await joined();
    const again = await post('/v1/invitations', { email: email.toUpperCase(), role: 'VIEWER' });
    expect([again.status, again.body['message']]).toEqual([
      409,
      `\`email\` is the address of a member already, ${id}; change that member instead`,
    ]);
    const invitation = await invited();
    const answers: Answer[] = [];
    for (let times = 2; times <= 6; times += 1)
      answers.push(await ring(`/v1/invitations/${invitation.id}/resend`));
    expect(statusesOf(answers)).toEqual([200, 200, 200, 200, 429]);
    expect(Number(answers.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(86_000);
  });

  it.each<[string, unknown, string]>([
    ['a name beside it', { email: 'Ada <ada@example.net>' }, '`email` has angle brackets'],
    ['two', { email: 'a@example.net, b@example.net' }, '`email` names more than one mailbox'],
    ['a header', { email: 'a@example.net\r\nBcc: b@example.net' }, '`email`'],
    ['a role that is none', { role: 'OWNER' }, '`role` is not one of the known values'],
    ['no role', { role: undefined }, '`role` is missing'],
    ['a long name', { name: 'x'.repeat(101) }, '`name` has 101 characters'],
    ['a field that is not known', { emial: 'a@example.net' }, 'did you mean `email`?'],
  ])('is 400 for %s', async (_, change, message) => {
    const answer = await post(
      '/v1/invitations',
      { email: 'ada@example.net', role: 'VIEWER', ...(change as object) },
      as('editor', stack.tenant),
    );
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
  });

  it('is 409 where the installation sends no mails of its own, and changes nothing', async () => {
    await newTenant();
    const { url } = await stack.startApp('gateway', { SYSTEM_FROM: '' });
    const answer = await fetch(`${url}/v1/invitations`, {
      method: 'POST',
      headers: { 'Authorization': `Bearer ${tenant.keys.editor}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: newRecipient(), role: 'VIEWER' }),
    });
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining('`SYSTEM_FROM`')]);
    expect(await actions()).toEqual([]);
  });
});

describe('An invitation', () => {
  it('that is revoked cannot be accepted, and its link reveals nothing else', async () => {
    await newTenant();
    const { id, email } = await invited();
    const path = await stack.linkMailedTo(email);
    const revoked = partIn<ShownInvitation>(await ring(`/v1/invitations/${id}/revoke`), 'invitation');
    expect(revoked).toMatchObject({ id, status: 'REVOKED', revokedAt: TIME });
    for (const answer of [await open(path), await accept(path)]) expectRefusal(answer, 410, 'was taken back');
    expect(await members()).toEqual([]);
    expect(partIn(await ring(`/v1/invitations/${id}/revoke`), 'invitation')).toEqual(revoked);
    const resent = await ring(`/v1/invitations/${id}/resend`);
    expect([resent.status, resent.body['message']]).toEqual([
      409,
      'The invitation was revoked already; invite the person again',
    ]);
    expect((await invited({ email })).id).not.toBe(id);
  });

  it('that was accepted cannot be revoked or sent again', async () => {
    await newTenant();
    const { id, email } = await invited();
    await accept(await stack.linkMailedTo(email));
    for (const what of ['revoke', 'resend']) {
      const answer = await ring(`/v1/invitations/${id}/${what}`);
      expect([answer.status, answer.body['message']]).toEqual([
        409,
        'The invitation was accepted already; change or remove the member instead',
      ]);
    }
  });

  it('that was accepted shows only that, and does not let a removed member join again', async () => {
    await newTenant();
    const { email } = await invited();
    const path = await stack.linkMailedTo(email);
    await accept(path);
    const [{ id }] = (await members()) as [ShownMember];
    await remove(id);
    for (const answer of [await open(path), await accept(path)]) {
      expect([answer.status, answer.text]).toEqual([
        200,
        expect.stringContaining('has accepted the invitation'),
      ]);
      expect(answer.text).not.toContain('is a member');
    }
    expect([await members(), (await events()).length]).toEqual([[], 1]);
  });

  it('that is sent again has a new link, and the old one has no effect', async () => {
    await newTenant();
    const { id, email } = await invited();
    const first = await stack.linkMailedTo(email);
    const resent = partIn<ShownInvitation>(await ring(`/v1/invitations/${id}/resend`), 'invitation');
    expect(resent).toMatchObject({ id, status: 'OPEN' });
    const second = await stack.linkMailedTo(email);
    expect(second).not.toBe(first);
    expectRefusal(await accept(first), 404, 'a newer mail has another one');
    expect(await members()).toEqual([]);
    expect((await accept(second)).text).toContain('Welcome');
  });

  it('that has expired shows that, and is open again when it is sent again', async () => {
    await newTenant();
    const { id, email } = await invited();
    const path = await stack.linkMailedTo(email);
    await stack.database.pool.query(
      `UPDATE invitations SET created_at = now() - interval '8 days', expires_at = now() - interval '1 second' WHERE email = $1`,
      [email],
    );
    expectRefusal(await accept(path), 410, 'older than 7 days');
    expect(await members()).toEqual([]);
    expect(partIn(await get(`/v1/invitations/${id}`), 'invitation')).toMatchObject({ status: 'EXPIRED' });
    expect(partIn(await ring(`/v1/invitations/${id}/resend`), 'invitation')).toMatchObject({
      status: 'OPEN',
    });
    expect((await accept(await stack.linkMailedTo(email))).text).toContain('Welcome');
  });

  it('is shown to browsers as a page without scripts', async () => {
    await newTenant();
    const { id, email } = await invited();
    await ring(`/v1/invitations/${id}/revoke`);
    const headers = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await stack.api().get(await stack.linkMailedTo(email), { key: null, headers });
    expect([page.status, page.headers.get('content-type')]).toEqual([410, 'text/html; charset=utf-8']);
    expect(page.text).toContain('The invitation was taken back');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
  });

  it.each(['phi_', 'phi_3VbTq8Zk1mNwY7rLcX5dHsJ2fGpA9eUoKx9QaB', '%00', 'x'.repeat(2_000), '<script>'])(
    'is not found by %j, whoever asks',
    async (token) => {
      for (const answer of [await open(`/invitations/${token}`), await accept(`/invitations/${token}`)]) {
        expectRefusal(answer, 404, 'The link was never made');
        expect(answer.text).not.toContain('<script');
      }
    },
  );

  it('is listed by status', async () => {
    await newTenant();
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.unshift((await invited()).id);
    await ring(`/v1/invitations/${ids[1]}/revoke`);
    const pageOf = async (query: string): Promise<{ items: ShownInvitation[] }> =>
      partIn(await get(`/v1/invitations?${query}`), 'invitations');
    const idsOf = async (status: string): Promise<string[]> =>
      (await pageOf(`status=${status}`)).items.map(({ id }) => id);
    expect(await idsOf('REVOKED')).toEqual([ids[1]]);
    expect(await idsOf('OPEN')).toEqual([ids[0], ids[2], ids[3]]);
    expect([await idsOf('ACCEPTED'), await idsOf('EXPIRED')]).toEqual([[], []]);
  });
});

describe('A member', () => {
  it('can get another role; an empty change changes nothing', async () => {
    await newTenant();
    const { id } = await joined({ role: 'EDITOR' });
    const other = await joined({ role: 'VIEWER' });
    const promoted = await post(`/v1/members/${other.id}`, { role: 'EDITOR' });
    expect(partIn(promoted, 'member')).toEqual({ ...other, role: 'EDITOR' });
    expect(partIn(await post(`/v1/members/${id}`, { role: 'VIEWER' }), 'member')).toMatchObject({
      role: 'VIEWER',
    });
    expect(partIn(await post(`/v1/members/${id}`, {}), 'member')).toMatchObject({ id, role: 'VIEWER' });
    expect((await actions()).slice(-2)).toEqual([
      expect.objectContaining({
        action: 'member.updated',
        subjectId: other.id,
        detail: { role: 'EDITOR', roleBefore: 'VIEWER' },
      }),
      expect.objectContaining({ action: 'member.updated', subjectId: id }),
    ]);
  });

  it('who is the last editor cannot be removed or get another role while there are other members', async () => {
    await newTenant();
    const editor = await joined({ role: 'EDITOR' });
    const viewer = await joined({ role: 'VIEWER' });
    const message = 'The member is the last one with the role `EDITOR`; give another member that role first';
    for (const answer of [
      await remove(editor.id),
      await post(`/v1/members/${editor.id}`, { role: 'VIEWER' }),
    ])
      expect([answer.status, answer.body['message']]).toEqual([409, message]);
    expect(partIn(await remove(viewer.id), 'member')).toEqual(viewer);
    const last = await remove(editor.id);
    expect(last.body).toEqual({ member: editor, isDeleted: true });
    expect([await members(), (await remove(editor.id)).status]).toEqual([[], 404]);
    expect(await events()).toHaveLength(2);
  });
});

describe('K2: members and invitations', () => {
  it('are read by any role', async () => {
    await newTenant();
    const { id } = await joined();
    const invitation = await invited();
    for (const role of ['viewer', 'apiUser'] as const) {
      const options = as(role);
      const reads = [
        await get('/v1/members', options),
        await get(`/v1/members/${id}`, options),
        await get('/v1/invitations', options),
        await get(`/v1/invitations/${invitation.id}`, options),
      ];
      expect(statusesOf(reads)).toEqual([200, 200, 200, 200]);
    }
  });
});

it('A notice that reaches nobody is logged, with what it is about and why', async () => {
  const { workspaceId } = await newTenant();
  await stack.database.pool.query(
    `INSERT INTO webhook_notices (workspace_id, webhook_id, kind) VALUES ($1, gen_random_uuid(), 'FAILING')`,
    [uuidOf(workspaceId)],
  );
  // It looks at once, unless another one is first.
  const { program } = await stack.startApp('gateway');
  const findLine = (): string | undefined =>
    `${stack.logs}${program.output}`.split('\n').find((line) => line.includes('a notice reached nobody'));
  await until(() => findLine() !== undefined, 'it is logged');
  expect(JSON.parse(findLine()!)).toMatchObject({
    level: 'warn',
    app: 'gateway',
    workspaceId,
    webhookId: expect.stringMatching(/^wh_/),
    notice: 'FAILING',
    reason: 'the workspace has no member with the role EDITOR',
  });
});

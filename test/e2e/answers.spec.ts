import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Answer } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { validEmail, Stack } from './stack.ts';

const NEW_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const stack = Stack.forTests({ sends: false });

const idOf = (answer: Answer): string | null => answer.headers.get('x-request-id');

describe('G6: X-Request-Id', () => {
  it.each(['a', 'req-1.2_3', 'A'.repeat(128)])('is kept when it is well-formed: %s', async (id) => {
    const headers = { 'X-Request-Id': id };
    expect(idOf(await stack.api().post('/v1/emails', {}, { headers }))).toBe(id);
    expect(idOf(await stack.send({}, { headers }))).toBe(id);
    expect(idOf(await stack.api().get('/nothing', { headers }))).toBe(id);
  });

  it.each(['', 'a b', 'A'.repeat(129), '\u00e9', '<script>', 'a,b', '${jndi:x}'])(
    'is replaced when it is %j',
    async (id) => {
      expect(idOf(await stack.api().post('/v1/emails', {}, { headers: { 'X-Request-Id': id } }))).toMatch(
        NEW_ID,
      );
    },
  );

  it('is replaced when there are two', async () => {
    const lines = [
      'GET /v1/emails/x HTTP/1.1',
      'Host: x',
      'Connection: close',
      'X-Request-Id: a',
      'X-Request-Id: b',
    ];
    expect(idOf(await stack.api().raw(lines))).toMatch(NEW_ID);
  });

  it('is different for each request', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => stack.api().get(`/${randomUUID()}`)));
    expect(new Set(answers.map(idOf)).size).toBe(20);
  });
});

describe('G5: the order of checks', () => {
  it('answers the first error of a call, and the next one when that is fixed', async () => {
    const { workspaceId, keys } = await stack.createTenant('One email a month', 1);
    const post = (email: unknown, key: string | null = keys.apiUser): Promise<Answer> =>
      stack.api().post('/v1/emails', email, { key });
    const first = { ...validEmail(), idempotencyKey: randomUUID() };
    expect((await post(first)).status).toBe(200);

    const template = { template: 'nonesuch', to: 'ada@receiver.example' };
    const late = { sendAt: '2020-01-01T00:00:00Z' };
    const stranger = { ...validEmail(), from: 'a@elsewhere.example' };
    const calls: [Promise<Answer>, number, string][] = [
      [post({ ...stranger, ...late, nonesuch: 1 }, null), 401, '`Authorization`'],
      [post({ ...stranger, ...late, nonesuch: 1 }, keys.viewer), 401, 'scope'],
      [post({ ...stranger, ...late, nonesuch: 1 }), 400, '`nonesuch`'],
      [post({ ...stranger, ...late }), 400, '`sendAt`'],
      [post({ ...template, ...late }), 400, '`sendAt`'],
      [post(stranger), 400, '`from`'],
      [post(template), 400, '`template`'],
      [post(validEmail()), 403, 'limit of 1 email'],
      // The body is validated after role and workspace, and these after the credential.
      [stack.api().post(`/v1/workspaces/${stack.tenant.workspaceId}/api-keys`, '{', { key: null }), 401, ''],
      [stack.api().post(`/v1/workspaces/${workspaceId}/api-keys`, '{', { key: keys.apiUser }), 403, 'role'],
      [
        stack.api().post(`/v1/workspaces/${stack.tenant.workspaceId}/api-keys`, '{', { key: keys.editor }),
        403,
        'workspace',
      ],
      [stack.api().post(`/v1/workspaces/${workspaceId}/api-keys`, '{', { key: keys.editor }), 400, 'JSON'],
    ];
    for (const [answer, status, names] of calls) expectRefusal(await answer, status, names);
  });

  it('S11: answers a replay before it checks the monthly limit', async () => {
    const { keys } = await stack.createTenant('One email a month', 1);
    const email = { ...validEmail(), idempotencyKey: randomUUID() };
    const answers = [
      await stack.send(email, { key: keys.apiUser }),
      await stack.send(email, { key: keys.apiUser }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]!.text).toBe(answers[0]!.text);
    expect((await stack.send({}, { key: keys.apiUser })).status).toBe(403);
  });
});

describe('G7: docsUrl', () => {
  it.each([
    ['invalid-payload', { ...validEmail(), subject: 1 }, 'correct the body'],
    ['unverified-sender', { ...validEmail(), from: 'a@other.example' }, 'POST /v1/identities'],
  ])('of %s is a page of this gateway that explains the error', async (name, email, remedy) => {
    const { docsUrl } = (await stack.api().post('/v1/emails', email)).body as { docsUrl: string };
    expect(docsUrl).toMatch(new RegExp(`/docs/errors/${name}$`));
    const page = await fetch(docsUrl);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const text = await page.text();
    expect(text).toMatch(/<h1>.+<\/h1><p>.+<\/p>/);
    expect(text).toContain(remedy);
  });
});

describe('X1: the allowed senders', () => {
  it('are only those of the workspace', async () => {
    const other = await stack.createTenant('Other');
    const answer = await stack.send({ from: 'known@partner.example' }, { key: other.keys.apiUser });
    expect(answer.body).toMatchObject({ allowedEmails: [], allowedDomains: ['example.com'] });
  });
});

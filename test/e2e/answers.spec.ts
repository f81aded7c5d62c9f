import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer } from './api.ts';
import { soundEmail, Stack } from './stack.ts';

const NEW_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ sends: false });
}, 60_000);
afterAll(() => stack.close());

const idOf = (answer: Answer): string | null => answer.headers.get('x-request-id');

describe('G6: X-Request-Id', () => {
  it.each(['a', 'req-1.2_3', 'A'.repeat(128)])('is kept when it is well-formed: %s', async (id) => {
    const headers = { 'X-Request-Id': id };
    expect(idOf(await stack.api().post('/v1/emails', {}, { headers }))).toBe(id);
    expect(idOf(await stack.send({}, { headers }))).toBe(id);
    expect(idOf(await stack.api().get('/nothing', { headers }))).toBe(id);
  });

  it.each(['', 'a b', 'A'.repeat(129), '\u00e9', '<script>', 'a,b', '${jndi:x}'])(
    'is made anew when it is %j',
    async (id) => {
      expect(idOf(await stack.api().post('/v1/emails', {}, { headers: { 'X-Request-Id': id } }))).toMatch(
        NEW_ID,
      );
    },
  );

  it('is made anew when there are two', async () => {
    const lines = [
      'GET /v1/emails/x HTTP/1.1',
      'Host: x',
      'Connection: close',
      'X-Request-Id: a',
      'X-Request-Id: b',
    ];
    expect(idOf(await stack.api().raw(lines))).toMatch(NEW_ID);
  });

  it('is another for each request', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => stack.api().get(`/${randomUUID()}`)));
    expect(new Set(answers.map(idOf)).size).toBe(20);
  });
});

describe('G7: docsUrl', () => {
  it.each([
    ['invalid-payload', { ...soundEmail(), subject: 1 }],
    ['unverified-sender', { ...soundEmail(), from: 'a@other.example' }],
  ])('of %s is a page of this gateway that explains the error', async (name, email) => {
    const { docsUrl } = (await stack.api().post('/v1/emails', email)).body as { docsUrl: string };
    expect(docsUrl).toMatch(new RegExp(`/docs/errors/${name}$`));
    const page = await fetch(docsUrl);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toMatch(/<h1>.+<\/h1><p>.+<\/p>/);
  });
});

describe('X1: the senders that are allowed', () => {
  it('are those of the workspace alone', async () => {
    const other = await stack.createTenant('Other');
    const answer = await stack.send({ from: 'known@partner.example' }, { key: other.keys.apiUser });
    expect(answer.body).toMatchObject({ allowedEmails: [], allowedDomains: ['example.com'] });
  });
});

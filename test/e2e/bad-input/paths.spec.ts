import { describe, expect, it } from '@jest/globals';
import type { Case } from './cases.ts';
import { expectRefusal } from './refusal.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const auth = (): string => `Authorization: Bearer ${refusing.stack.tenant.keys.editor}`;
const raw = (line: string) =>
  refusing.stack.api().raw([`${line} HTTP/1.1`, 'Host: x', auth(), 'Connection: close']);

describe('G2, E0: unknown paths', () => {
  const paths = [
    '/',
    '/v1',
    '/v1/',
    '/v2/emails',
    '/v0/emails',
    '/emails',
    '/v1/email',
    '/v1/emails/x/y/z',
    '/v1/Users',
    '/V1',
    '/favicon.ico',
    '/.env',
    '/.git/config',
    '/robots.txt',
    '/wp-login.php',
    '/v1//emails',
    '//v1/emails',
    '/v1/emailss',
    '/docs/errors/none',
    '/docs/errors/__proto__',
    '/docs/errors/constructor',
    '/docs/errors/..%2f..%2fpackage.json',
    '/v1/emails%00',
    `/${'x'.repeat(5_000)}`,
    '/health',
    '/health/x',
    '/metrics',
    '/v1/..%5c..%5cetc',
    '/v1/emails;a=b',
    '/graphql',
    '/v1/api-keys',
    '/v1/workspaces',
    '/admin',
    '/%2e%2e/v1',
    '/v1%2femails',
    '/v1/%65mails/x/y',
    '/api/v1/emails',
    '/v1/keys',
    '/v1.0/emails',
    '/v1/sends',
    '/null',
    '/NaN',
    '/v1/emails/batch/x/y',
  ];
  const cases = paths.map((path): Case => ({
    what: 'unknown',
    route: `GET ${path}`,
    status: 404,
    names: /^There is /,
  }));
  it.each(titled(cases))('%s', (_title, bad) => refusing.refuses(bad));

  it('in absolute form', async () => {
    const nothing = 'There is nothing at /v1/nothing; see /docs for the paths';
    expectRefusal(await raw('GET http://evil.example/v1/nothing'), 404, nothing);
  });
});

describe('G2: methods that a path does not have', () => {
  it.each(['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'OPTIONS', 'LOCK', 'SEARCH', 'PURGE'])(
    '%s of the emails',
    async (method) => {
      const answer = await raw(`${method} /v1/emails`);
      expectRefusal(answer, 405, `${method} is not allowed here`);
      expect(answer.headers.get('allow')?.split(', ')).toContain('POST');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS'])('%s of an email', async (method) => {
    const answer = await raw(`${method} /v1/emails/trs_01h455vb4pex5vsknk084sn02q`);
    expectRefusal(answer, 405, `${method} is not allowed here`);
    expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(['GET', 'HEAD']));
  });

  it.each(['/v1/emails/batch', '/v1/contacts/batch'])('GET of %s, which is not an id', async (path) => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await raw(`${method} ${path}`);
      expectRefusal(answer, 405, `${method} is not allowed here; use POST`);
      expect(answer.headers.get('allow')).toBe('POST');
    }
  });

  it('CONNECT', async () => {
    const answer = await refusing.stack.api().raw(['CONNECT example.com:25 HTTP/1.1', 'Host: x']);
    expectRefusal(answer, 405, 'CONNECT is not allowed');
  });
});

describe('G3, G5: an id in the path that does not decode to valid text', () => {
  const ids = ['%zz', '%', '%E0%A4%A', '%ff', 'trs_01h455vb4pex5vsknk084sn02%', '%u0041'];

  it.each(ids)('%s is 404 like any other, after the credential was checked', async (id) => {
    const path = `/v1/emails/${id}`;
    expectRefusal(await raw(`GET ${path}`), 404, 'There is no email with this id in this workspace');
    const withoutKey = await refusing.stack
      .api()
      .raw([`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close']);
    expectRefusal(withoutKey, 401, 'The `Authorization` header is missing');
  });

  it('is 403 in place of a workspace id', async () => {
    expectRefusal(await raw('GET /v1/workspaces/%zz/api-keys'), 403, 'not of the workspace in the path');
  });
});

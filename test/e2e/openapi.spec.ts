import { describe, expect, it } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { newApiKeySecret } from '@posthorn/signing';
import { DOCUMENT } from '../../apps/gateway/src/openapi/document.fixture.ts';
import type { Answer } from './api.ts';
import { bodiesOf, call, type Caller, idsOf, queryOf, ROUTES, shownAnswers } from './openapi-routes.ts';
import {
  invitationToken,
  make,
  tomorrow,
  trackingToken,
  unsubscribeToken,
  verificationToken,
} from './factories.ts';
import { Stack } from './stack.ts';
import { validTemplate } from './templates.ts';

/** What must exist before a route accepts its examples, in addition to the resources in its path. */
const PREREQUISITES: Readonly<Record<string, (caller: Caller) => Promise<unknown>>> = {
  sendEmail: makeWelcome,
  sendBatch: makeWelcome,
};

/** The template that the examples of templated emails name. */
function makeWelcome({ api }: Caller): Promise<unknown> {
  return api.post('/v1/templates', validTemplate({ name: 'welcome', defaults: { firstName: 'friend' } }));
}

/** How to create the tokens of links, by path. */
const TOKENS: Readonly<Record<string, (caller: Caller) => Promise<string>>> = {
  '/t/c/': (caller) => trackingToken(caller, 'c'),
  '/unsubscribe/': unsubscribeToken,
  '/invitations/': invitationToken,
  '/verify/identity/': verificationToken,
};

/** Replaces values of an example that cannot be constant, such as a time in the near future. */
const CHANGES: Readonly<Record<string, object>> = { rescheduleEmail: { sendAt: tomorrow() } };

/** Of its request and its connection; `fetch` closes those of HEAD. */
const PASSING_HEADERS = ['date', 'x-request-id', 'connection', 'keep-alive'];

/** The headers of an answer that the same call has every time. */
function steadyHeaders({ headers }: Answer): [name: string, value: string][] {
  return [...headers].filter(([name]) => !PASSING_HEADERS.includes(name));
}

/** The workspace of the examples in the document. */
const EXAMPLE_WORKSPACE = 'wrk_01jysw4kayfxg8n6rc3mq3yjjv';

describe('the document', () => {
  const stack = Stack.forTests({ sends: false });
  let tenants = 0;

  /** A separate workspace for each call, so that calls do not affect each other. */
  async function newCaller(): Promise<Caller> {
    const tenant = await stack.createTenant(`Caller ${(tenants += 1)}`);
    return { stack, tenant, api: stack.apiAs(tenant.keys.editor) };
  }

  it('is the one that the gateway serves', async () => {
    const { text } = await stack.api().get('/openapi.json', { key: null });
    const { servers } = JSON.parse(text) as { servers: [{ url: string }] };
    const expected = JSON.stringify(DOCUMENT).replaceAll('https://mail.example.com', servers[0].url);
    expect(JSON.parse(text)).toEqual(JSON.parse(expected));
  });

  it('shows the common refusals as they are really answered', async () => {
    const { tenant, api } = await newCaller();
    const { apiUser, viewer } = tenant.keys;
    const other = (await newCaller()).tenant.workspaceId;
    const keysOf = (workspaceId: string): string => `/v1/workspaces/${workspaceId}/api-keys`;
    const plain = { headers: { 'Content-Type': 'text/plain' } };
    const said: [string, Answer][] = [
      ['sendEmail', await api.post('/v1/emails', {}, { key: null })],
      ['sendEmail', await api.post('/v1/emails', {}, { key: newApiKeySecret() })],
      ['sendEmail', await api.post('/v1/emails', {}, { key: viewer })],
      ['sendEmail', await api.post('/v1/emails', ' '.repeat(11 * 1024 * 1024))],
      ['sendEmail', await api.post('/v1/emails', '{}', plain)],
      ['listApiKeys', await api.get(keysOf(tenant.workspaceId), { key: apiUser })],
      ['listApiKeys', await api.get(keysOf(other))],
      ['createApiKey', await api.post(keysOf(tenant.workspaceId), {})],
      ['deleteApiKey', await api.request('DELETE', `${keysOf(tenant.workspaceId)}/aki_x`, undefined)],
    ];
    for (const [name, { status, body }] of said) {
      const route = ROUTES.find(({ operationId }) => operationId === name)!;
      const text = JSON.stringify(body).replaceAll(tenant.workspaceId, EXAMPLE_WORKSPACE);
      expect([name, shownAnswers(route, status)]).toEqual([name, expect.arrayContaining([JSON.parse(text)])]);
    }
    expect(said.map(([, { status }]) => status)).toEqual([401, 401, 401, 413, 415, 403, 403, 400, 404]);
  });

  describe.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s',
    (_, route) => {
      const { operationId } = route;

      async function prepared(): Promise<[Caller, Record<string, string>]> {
        const caller = await newCaller();
        await PREREQUISITES[operationId]?.(caller);
        const parts: Record<string, string> = {};
        for (const { name, prefix } of idsOf(route)) parts[name] = await make(prefix, caller);
        const [, token] = Object.entries(TOKENS).find(([path]) => route.path.startsWith(path)) ?? [];
        if (token !== undefined) parts['token'] = await token(caller);
        return [caller, parts];
      }

      it.each(bodiesOf(route))('accepts %s, and answers as documented', async (_name, example) => {
        const [caller, parts] = await prepared();
        const body = example === undefined ? undefined : { ...(example as object), ...CHANGES[operationId] };
        const answer = await call(route, caller, parts, body);
        const done = route.responses['302'] === undefined ? 200 : 302;
        expect([answer.status, answer.text]).toEqual([done, expect.anything()]);
        // A batch is answered 200 even when none of its emails is accepted.
        if (operationId === 'sendBatch') expect(answer.body).toMatchObject({ emails: { failed: [] } });
      });

      if (route.method === 'GET')
        it('answers HEAD in the same way, without the body', async () => {
          const [caller, parts] = await prepared();
          const ask = (method: string): Promise<Answer> => call({ ...route, method }, caller, parts);
          for (;;) {
            const [get, head, again] = [await ask('GET'), await ask('HEAD'), await ask('GET')];
            // Once a minute, a gateway records when keys were used, which the list of keys shows.
            if (!isDeepStrictEqual(steadyHeaders(get), steadyHeaders(again))) continue;
            expect([head.status, steadyHeaders(head), head.text]).toEqual([
              get.status,
              steadyHeaders(get),
              '',
            ]);
            return;
          }
        });

      const query = queryOf(route);
      if (query === '') return;
      it(`accepts ?${query}`, async () => {
        const [caller, parts] = await prepared();
        const answer = await call({ ...route, path: `${route.path}?${query}` }, caller, parts);
        expect(answer.status).toBe(200);
      });
    },
  );
});

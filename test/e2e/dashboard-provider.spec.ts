import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuditLogStore, OperatorAccountStore } from '@posthorn/database';
import { operator } from '@posthorn/domain';
import { SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import type { AppUnderTest } from '@posthorn/testing';
import { createOperator } from '@posthorn/use-cases/operate';
import { TestIdentityProvider, Visitor } from './identity-provider.ts';
import { Stack, TESTS } from './stack.ts';

const PEOPLE = {
  ada: { groups: ['everybody', 'mail-operators'] },
  vera: { groups: ['support'] },
  eve: { groups: ['everybody', 'mail-operators-of-another'] },
  admin: { groups: ['support'], preferredUsername: 'ada' },
  weird: { groups: ['support'], preferredUsername: '<b>bold</b>\n' },
};

/** The public URL for browsers; tests connect to the real address. */
const SEEN_AT = 'http://dashboard.posthorn.example';

let dashboard: AppUnderTest;
let provider: TestIdentityProvider;
let url: string;

const stack = Stack.forTests({ sends: false });
beforeAll(async () => {
  provider = await TestIdentityProvider.start(PEOPLE, callback());
  dashboard = await start();
  ({ url } = dashboard);
});
afterAll(() => provider.close());

function start(env: Record<string, string> = {}): Promise<AppUnderTest> {
  return stack.startApp('dashboard', {
    DASHBOARD_URL: SEEN_AT,
    // Each visitor of a test sends its own client address.
    TRUSTED_PROXIES: '127.0.0.1',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.client.id,
    OIDC_CLIENT_SECRET: provider.client.secret,
    OIDC_SCOPES: 'openid profile groups',
    OIDC_OPERATOR_VALUES: 'mail-operators',
    OIDC_VIEWER_VALUES: 'support, staff',
    ...env,
  });
}

const begin = () => `${url}/sign-in/provider`;
const callback = () => `${SEEN_AT}/sign-in/provider/callback`;

/** Signs in at the provider, up to the redirect back to the dashboard. */
async function sentBack(name: string, from = begin()): Promise<{ visitor: Visitor; at: string }> {
  const visitor = new Visitor();
  const at = await visitor.signInAtProvider(from, name, callback());
  return { visitor, at: at.replace(SEEN_AT, new URL(from).origin) };
}

async function signedIn(name: string): Promise<Visitor> {
  const { visitor, at } = await sentBack(name);
  expect((await visitor.visit(at)).status).toBe(200);
  return visitor;
}

const overviewOf = async (visitor: Visitor): Promise<string> => (await visitor.visit(`${url}/`)).text();

describe('Signing in by an identity provider', () => {
  it('begins with a link on the sign-in page, which is available although there are no accounts', async () => {
    const page = await (await new Visitor().visit(`${url}/sign-in`)).text();
    expect(page).toContain('<a href="/sign-in/provider">Sign in with 127.0.0.1</a>');
    expect(page).toContain('type="password"');
  });

  it.each([
    ['ada', 'ada@127.0.0.1 (operator)'],
    ['vera', 'vera@127.0.0.1 (viewer)'],
    ['admin', 'ada@127.0.0.1 (viewer)'],
    ['weird', 'weird@127.0.0.1 (viewer)'],
  ])('signs %s in as %s', async (name, shown) => {
    expect(await overviewOf(await signedIn(name))).toContain(shown);
  });

  it('uses PKCE, state and nonce, which differ each time', async () => {
    const locations = await Promise.all(
      [1, 2].map(async () => new URL((await new Visitor().visit(begin())).headers.get('location')!)),
    );
    const [first, second] = locations.map(({ searchParams }) => Object.fromEntries(searchParams)) as [
      Record<string, string>,
      Record<string, string>,
    ];
    expect(first).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: callback(),
      scope: 'openid profile groups',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(first[name]).toMatch(/^[\w-]{43}$/);
      expect(first[name]).not.toBe(second[name]);
    }
  });

  it('gives a role only for the configured values', async () => {
    const { visitor, at } = await sentBack('eve');
    const answer = await visitor.visit(at);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('gives you no role here');
    expect((await visitor.visit(`${url}/`)).status).toBe(303);
  });

  it('continues with a page of the dashboard, and a session cookie that is SameSite=Strict', async () => {
    const { visitor, at } = await sentBack('ada');
    const answer = await visitor.visit(at);
    expect(answer.headers.get('refresh')).toBe('0; url=/');
    expect(answer.headers.getSetCookie().find((line) => line.startsWith('posthorn-session='))).toMatch(
      /HttpOnly; SameSite=Strict$/,
    );
    const page = { limit: 1, sort: 'createdAt.desc' } as const;
    const filter = { action: 'operator.signed_in' } as const;
    const { items } = await new AuditLogStore(stack.database).list(SYSTEM_WORKSPACE_ID, page, filter);
    expect(items).toMatchObject([
      { actor: operator('ada@127.0.0.1'), detail: { issuer: provider.issuer, role: 'operator' } },
    ]);
    expect(items[0]!.detail['network']).toMatch(/^[\d.]+$/);
  });

  it('redirects to the requested page, and to no other site', async () => {
    for (const [wanted, reached] of [
      ['/emails?to=ada%40receiver.example', '/emails?to=ada%40receiver.example'],
      ['//evil.example', '/'],
    ] as const) {
      const page = await (
        await new Visitor().visit(`${url}/sign-in?to=${encodeURIComponent(wanted)}`)
      ).text();
      const [, link] = /href="(\/sign-in\/provider[^"]*)"/.exec(page)!;
      const { visitor, at } = await sentBack('ada', url + link!);
      expect((await visitor.visit(at)).headers.get('refresh')).toBe(`0; url=${reached}`);
    }
  });

  it('ends with the session: people are signed out, and may sign out at the provider, too', async () => {
    const visitor = await signedIn('vera');
    const page = await (await new Visitor().visit(`${url}/sign-in`)).text();
    expect(page).toMatch(new RegExp(`<a href="${provider.issuer}/session/end\\?[^"]*">Sign out there</a>`));
    await stack.database.pool.query("DELETE FROM operator_sessions WHERE name = 'vera@127.0.0.1'");
    expect((await visitor.visit(`${url}/`)).status).toBe(303);
  });
});

describe('The client secret', () => {
  it.each(['header, not encoded', 'body'] as const)(
    'is accepted by a provider that expects it in the %s',
    async (place) => {
      const other = await TestIdentityProvider.start(PEOPLE, callback(), place);
      const app = await start({ OIDC_ISSUER: other.issuer, OIDC_CLIENT_SECRET: other.client.secret });
      const { visitor, at } = await sentBack('ada', `${app.url}/sign-in/provider`);
      expect((await visitor.visit(at)).status).toBe(200);
      await app.program.stop();
      await other.close();
    },
  );
});

describe('Somebody who returns from the provider', () => {
  it.each<[string, (at: URL) => void]>([
    ['with another state', (at) => at.searchParams.set('state', 'A'.repeat(43))],
    ['without a state', (at) => at.searchParams.delete('state')],
    ['with a code that is none', (at) => at.searchParams.set('code', 'x'.repeat(5_000))],
    ['without a code', (at) => at.searchParams.delete('code')],
    ['by the word of another issuer', (at) => at.searchParams.set('iss', 'https://evil.example')],
  ])('%s must start again', async (_what, change) => {
    const { visitor, at } = await sentBack('ada');
    const changed = new URL(at);
    change(changed);
    const answer = await visitor.visit(changed);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('start again');
    expect((await visitor.visit(`${url}/`)).status).toBe(303);
  });

  it('in another browser, or twice, must start again', async () => {
    const { visitor, at } = await sentBack('ada');
    expect((await new Visitor().visit(at)).status).toBe(400);
    expect((await visitor.visit(at)).status).toBe(200);
    expect((await visitor.visit(at)).status).toBe(400);
  });

  it('with a code for somebody else must start again', async () => {
    const [mine, theirs] = await Promise.all([sentBack('vera'), sentBack('ada')]);
    const mixed = new URL(mine.at);
    mixed.searchParams.set('code', new URL(theirs.at).searchParams.get('code')!);
    expect((await mine.visitor.visit(mixed)).status).toBe(400);
  });

  it('repeatedly from one address must wait', async () => {
    const headers = { 'X-Forwarded-For': '10.9.9.9' };
    const comeBack = (): Promise<Response> => fetch(`${url}/sign-in/provider/callback?state=x`, { headers });
    const statuses = (await Promise.all(Array.from({ length: 40 }, comeBack))).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
  });

  it('after a refusal by the provider sees that, in our own words', async () => {
    const { visitor, at } = await sentBack('ada');
    const state = new URL(at).searchParams.get('state')!;
    const refused = new URL('/sign-in/provider/callback', url);
    refused.search = String(
      new URLSearchParams({
        error: 'access_denied',
        error_description: '<script>x</script>',
        state,
        iss: provider.issuer,
      }),
    );
    const answer = await visitor.visit(refused);
    expect(answer.status).toBe(403);
    expect(await answer.text()).not.toContain('script');
  });

  it('while the provider gives invalid answers sees that, and the reason is logged without a token', async () => {
    const { visitor, at } = await sentBack('ada');
    provider.overrides.set('/token', {
      status: 200,
      body: '{"access_token":"hunter2","token_type":"bearer"}',
    });
    const answer = await visitor.visit(at);
    provider.overrides.clear();
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect((await visitor.visit(`${url}/`)).status).toBe(303);
    await dashboard.program.waitForOutput('the identity provider');
    expect(dashboard.program.output).not.toMatch(/hunter2|code=|id_token=/);
    expect(dashboard.program.output).not.toContain(provider.client.secret);
  });
});

describe('Settings of the dashboard', () => {
  it('can disable passwords, also for existing sessions', async () => {
    const accounts = new OperatorAccountStore(stack.database);
    const { name, password } = await createOperator(accounts, TESTS, { name: 'ada', role: 'operator' });
    const signIn = (at: string): Promise<Response> =>
      fetch(`${at}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ name, password }),
        headers: { Origin: SEEN_AT },
      });
    const answer = await signIn(url);
    expect(answer.status).toBe(303);
    const headers = { Cookie: answer.headers.getSetCookie()[0]!.split(';')[0]! };
    const closed = await start({ PASSWORD_SIGN_IN: 'false' });
    const statusAt = async (at: string): Promise<number> =>
      (await fetch(`${at}/`, { redirect: 'manual', headers })).status;
    expect([await statusAt(url), await statusAt(closed.url)]).toEqual([200, 303]);
    expect((await signIn(closed.url)).status).toBe(403);
    expect(await (await fetch(`${closed.url}/sign-in`)).text()).not.toContain('type="password"');
    await closed.program.stop();
  });

  it('without a provider do not accept sessions that came from one', async () => {
    const visitor = await signedIn('ada');
    const other = await start({ OIDC_ISSUER: '' });
    const headers = { Cookie: visitor.cookieFor(url) };
    expect((await fetch(`${url}/`, { redirect: 'manual', headers })).status).toBe(200);
    expect((await fetch(`${other.url}/`, { redirect: 'manual', headers })).status).toBe(303);
    expect((await fetch(`${other.url}/sign-in/provider`)).status).toBe(404);
    await other.program.stop();
  });

  it('with an unavailable provider let the dashboard start, and it reports that at the sign-in', async () => {
    const app = await start({ OIDC_ISSUER: 'http://127.0.0.1:1' });
    expect((await fetch(`${app.url}/sign-in`)).status).toBe(200);
    const answer = await fetch(`${app.url}/sign-in/provider`, { redirect: 'manual' });
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringContaining('does not answer right now'),
    ]);
    await app.program.stop();
  });
});

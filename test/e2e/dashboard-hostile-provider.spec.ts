import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppUnderTest } from '@posthorn/testing';
import { generateKeyPairSync } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { HostileProvider, answerJson, answerEndlessly, signedByText, unsigned } from './hostile-provider.ts';
import { Visitor } from './identity-provider.ts';
import { Stack } from './stack.ts';

type Claims = Record<string, unknown>;

const DISCOVERY = '/.well-known/openid-configuration';
const MEGABYTE = 1024 * 1024;
const AT_FAULT = 'gave an invalid answer';
const AWAY = 'does not answer right now';

let provider: HostileProvider;
let dashboard: AppUnderTest;

const stack = Stack.forTests({ sends: false });
beforeAll(async () => {
  provider = await HostileProvider.start();
  dashboard = await start();
});
afterAll(() => provider.close());
beforeEach(() => provider.reset());

/** Starts a dashboard that has not contacted the provider yet. */
function start(): Promise<AppUnderTest> {
  return stack.startApp('dashboard', {
    // Each visitor of a test sends its own client address.
    TRUSTED_PROXIES: '127.0.0.1',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.client.id,
    OIDC_CLIENT_SECRET: provider.client.secret,
    OIDC_OPERATOR_VALUES: 'ops',
  });
}

interface Entered {
  readonly status: number;
  readonly text: string;
  /** The overview, as this visitor sees it. */
  readonly overview: { readonly status: number; readonly text: string };
}

/** Calls the redirect URI as if the provider had redirected there. */
async function comeBack(at = dashboard): Promise<Entered> {
  const visitor = new Visitor();
  const begun = await visitor.visit(`${at.url}/sign-in/provider`);
  const { searchParams } = new URL(begun.headers.get('location')!);
  provider.nonce = searchParams.get('nonce')!;
  const answer = await visitor.visit(
    `${at.url}/sign-in/provider/callback?code=co-de&state=${searchParams.get('state')!}`,
  );
  const overview = await visitor.visit(`${at.url}/`);
  return {
    status: answer.status,
    text: await answer.text(),
    overview: { status: overview.status, text: await overview.text() },
  };
}

async function expectRefused(status: number, words: string, at = dashboard): Promise<void> {
  const { text, ...entered } = await comeBack(at);
  expect([entered.status, entered.overview.status]).toEqual([status, 303]);
  expect(text).toContain(words);
}

const seconds = (): number => Math.floor(Date.now() / 1_000);
const strangersKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

describe('A hostile identity provider', () => {
  it('signs people in while it behaves correctly', async () => {
    expect((await comeBack()).overview.text).toContain('ada@127.0.0.1 (operator)');
  });

  it.each<[string, Claims]>([
    ['of another issuer', { iss: 'https://evil.example' }],
    ['for another client', { aud: 'another' }],
    ['for another client as well', { aud: ['posthorn', 'another'], azp: 'another' }],
    ['that has expired', { exp: seconds() - 100 }],
    ['that expires never', { exp: undefined }],
    ['that expires by a word', { exp: 'never' }],
    ['that is not good yet', { nbf: seconds() + 1_000 }],
    ['without a nonce', { nonce: undefined }],
    ['with the nonce of another sign-in', { nonce: 'A'.repeat(43) }],
    ['of nobody', { sub: undefined }],
    ['of a number', { sub: 7 }],
  ])('signs nobody in with a token %s', async (_what, claims) => {
    provider.claims = claims;
    await expectRefused(503, AT_FAULT);
  });

  it.each<[string, (claims: Claims) => unknown]>([
    ['is not signed', unsigned],
    ['is signed with the secret of the client', (claims) => signedByText(claims, provider.client.secret)],
    ['is signed with the public key as a text', (claims) => signedByText(claims, provider.publicKey)],
    [
      'is signed with the public key as a text, and says otherwise',
      (claims) => signedByText(claims, provider.publicKey, 'RS256'),
    ],
    ['is signed with the key of a stranger', (claims) => provider.signed(claims, {}, strangersKey)],
    ['is signed with a key that it does not name', (claims) => provider.signed(claims, { kid: 'another' })],
    ['says more than is understood', (claims) => provider.signed(claims, { crit: ['x'], x: 1 })],
    ['is encrypted', () => 'a.b.c.d.e'],
    ['is none', () => 'x'],
    ['is a number', () => 7],
  ])('signs nobody in with a token that %s', async (_what, makeToken) => {
    provider.makeToken = makeToken;
    await expectRefused(503, AT_FAULT);
  });

  it.each<[string, unknown]>([
    ['an object', { ops: true }],
    ['a list of lists', [['ops']]],
    ['a text of several', 'staff,ops'],
    ['a number', 5],
    ['nothing', null],
  ])('gives nobody a role with groups that are %s', async (_what, groups) => {
    provider.claims = { groups };
    await expectRefused(403, 'gives you no role here');
  });

  it.each<[string, unknown]>([
    ['of somebody else', { sub: 'eve', groups: ['ops'] }],
    ['of nobody', { groups: ['ops'] }],
    ['that is a list', [{ sub: 'ada', groups: ['ops'] }]],
    ['that is nothing', null],
  ])('gives nobody a role with a UserInfo %s', async (_what, said) => {
    provider.claims = { groups: undefined };
    provider.overrides.set('/userinfo', answerJson(said));
    await expectRefused(503, AT_FAULT);
  });

  it.each<[string, Claims, string]>([
    [
      'markup',
      { sub: '<script>x</script>', preferred_username: 5 },
      '&lt;script&gt;x&lt;/script&gt;@127.0.0.1',
    ],
    [
      'longer than the database accepts',
      { sub: `@${'x'.repeat(5_000)}`, preferred_username: undefined },
      `${'x'.repeat(300)}@127.0.0.1 (operator)`,
    ],
  ])('names somebody by what is %s, and they are shown by it all the same', async (_what, claims, shown) => {
    provider.claims = claims;
    const { overview } = await comeBack();
    expect(overview.text).toContain(shown);
    expect(overview.text).not.toContain('<script>x');
  });

  it.each<[string, RequestListener]>([
    ['leads elsewhere', (_request, response) => response.writeHead(307, { Location: '/userinfo' }).end()],
    ['hangs up', (_request, response) => response.destroy()],
    ['speaks no HTTP', (_request, response) => response.socket!.end('220 hunter2 ESMTP\r\n\r\n')],
    [
      'is broken JSON',
      (_request, response) => response.setHeader('Content-Type', 'application/json').end('{"'),
    ],
    ['says what is wrong with it at length', answerJson({ error: '<b>'.repeat(100_000) }, 400)],
  ])('signs nobody in where its answer %s', async (_what, answer) => {
    provider.overrides.set('/token', answer);
    await expectRefused(503, AT_FAULT);
  });

  it.each([
    [DISCOVERY, 200],
    ['/token', 200],
    ['/token', 500],
    ['/keys', 200],
    ['/userinfo', 200],
  ])('cannot exhaust the memory with an endless answer at %s (%i)', async (path, status) => {
    // What it has read it keeps: only one that has read neither asks for these.
    const asked = path === DISCOVERY || path === '/keys' ? await start() : dashboard;
    let sent = 0;
    provider.claims = { groups: undefined };
    provider.overrides.set(
      path,
      answerEndlessly(status, (bytes) => (sent += bytes)),
    );
    if (path === DISCOVERY) {
      const answer = await new Visitor().visit(`${asked.url}/sign-in/provider`);
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining(AWAY)]);
    } else await expectRefused(503, AT_FAULT, asked);
    // What the sockets between them hold comes on top of the one that we read.
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(32 * MEGABYTE);
  });

  it('that never answers is abandoned after 10 s', async () => {
    provider.overrides.set('/token', () => undefined);
    const since = performance.now();
    await expectRefused(503, AT_FAULT);
    expect(performance.now() - since).toBeGreaterThan(9_000);
  });

  it.each<[string, Claims]>([
    ['has no page to sign in', { authorization_endpoint: undefined }],
    ['has a page to sign in that is no address', { authorization_endpoint: 'nowhere' }],
    ['would have a script run to sign in', { authorization_endpoint: 'javascript:alert(1)' }],
    ['has a page to sign out that is no address', { end_session_endpoint: 'nowhere' }],
    ['would have a script run to sign out', { end_session_endpoint: 'javascript:alert(1)' }],
    ['is another one', { issuer: 'https://evil.example' }],
  ])(
    'that %s is reported as unavailable until it works again; others can sign in by password',
    async (_what, change) => {
      const fresh = await start();
      provider.overrides.set(DISCOVERY, answerJson(provider.metadata(change)));
      const answer = await new Visitor().visit(`${fresh.url}/sign-in/provider`);
      expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining(AWAY)]);
      const page = await new Visitor().visit(`${fresh.url}/sign-in`);
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('type="password"')]);
      provider.reset();
      // A provider that did not answer is contacted again after a second.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      expect((await comeBack(fresh)).status).toBe(200);
      await fresh.program.stop();
    },
  );

  it('is logged without tokens, codes or secrets', async () => {
    await dashboard.program.waitForOutput('the identity provider');
    expect(dashboard.program.output).not.toMatch(/hunter2|co-de|eyJ/);
    expect(dashboard.program.output).not.toContain(provider.client.secret);
  });
});

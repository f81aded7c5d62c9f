import { beforeAll, describe, expect, it } from '@jest/globals';
import { type AuditEntry, AuditLogStore, OperatorAccountStore } from '@posthorn/database';
import { type AuditedAction, operator, POSTHORN } from '@posthorn/domain';
import { type EmailId, SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { type AppUnderTest, wrongClock } from '@posthorn/testing';
import { createOperator, removeOperator, resetOperatorPassword } from '@posthorn/use-cases/operate';
import { once } from 'node:events';
import { connect } from 'node:net';
import { emailIn } from './api.ts';
import { FROM_ELSEWHERE } from './dashboard-visitor.ts';
import { Stack, TESTS } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

const stack = Stack.forTests({ sends: false });
let dashboard: AppUnderTest;
let accounts: OperatorAccountStore;
let ada: { name: string; password: string };
let viewer: { name: string; password: string };

beforeAll(async () => {
  accounts = new OperatorAccountStore(stack.database);
  dashboard = await stack.startApp('dashboard');
});

const CHALLENGE = 'Cookie realm="Posthorn dashboard", cookie-name="posthorn-session"';

const origin = () => `http://localhost:${dashboard.port}`;

function ask(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${dashboard.url}${path}`, { redirect: 'manual', ...init });
}

function signIn(
  credentials: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams(credentials);
  return ask('/sign-in', { method: 'POST', body, headers: { Origin: origin(), ...headers } });
}

async function cookieOf(credentials: { name: string; password: string }): Promise<string> {
  const answer = await signIn(credentials);
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
  return answer.headers.getSetCookie()[0]!.split(';')[0]!;
}

let viewerSession: string | undefined;

/** Signed in once: attempts for a name from one address are limited. */
async function viewerCookie(): Promise<string> {
  return (viewerSession ??= await cookieOf(viewer));
}

/** The entries of an action in the audit log of the whole installation, the newest first. */
async function auditEntries(action: AuditedAction): Promise<AuditEntry[]> {
  const page = { limit: 100, sort: 'createdAt.desc' } as const;
  return (await new AuditLogStore(stack.database).list(SYSTEM_WORKSPACE_ID, page, { action })).items.slice();
}

const as = (cookie: string, more: Record<string, string> = {}) => ({ headers: { Cookie: cookie, ...more } });

describe('The dashboard', () => {
  it('is closed until there is an account, and says how to create one', async () => {
    const page = await (await ask('/sign-in')).text();
    expect(page).toContain('operator create --name');
    expect(page).not.toContain('<form');
    ada = await createOperator(accounts, TESTS, { name: 'ada', role: 'operator' });
    viewer = await createOperator(accounts, TESTS, { name: 'vera' });
    expect(await (await ask('/sign-in')).text()).toContain('type="password"');
  });

  it.each(['/', '/queues', '/queues/api/queues', '/queues/static/js/main.js', '/nowhere'])(
    'shows nothing at %s without a session',
    async (path) => {
      const page = await ask(path, { headers: { Accept: 'text/html' } });
      const wanted = path === '/' ? '/sign-in' : `/sign-in?to=${encodeURIComponent(path)}`;
      expect([page.status, page.headers.get('location')]).toEqual([303, wanted]);
      // The second is how the pages of Bull Board send requests.
      for (const Accept of ['application/json', 'application/json, text/plain, */*']) {
        for (const cookie of ['', `posthorn-session=${'A'.repeat(43)}`]) {
          const { status, headers } = await ask(path, as(cookie, { Accept }));
          expect([status, headers.get('www-authenticate')]).toEqual([401, CHALLENGE]);
        }
      }
    },
  );

  it.each([
    ['another password', () => ({ name: 'ada', password: `${ada.password}x` }), 401],
    ['a name that nobody has', () => ({ name: 'grace', password: ada.password }), 401],
    ['a name that is none', () => ({ name: `'; DROP TABLE operator_accounts; --`, password: 'x' }), 401],
    ['a name that no database holds', () => ({ name: 'ada\0', password: ada.password }), 401],
    ['a name without end', () => ({ name: 'a'.repeat(5_000), password: 'x' }), 401],
    ['no password', () => ({ name: 'ada' }), 400],
    ['nothing', () => ({}), 400],
  ])('refuses %s without saying which was wrong', async (_what, credentials, status) => {
    const answer = await signIn(credentials());
    expect(answer.status).toBe(status);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? CHALLENGE : null);
    if (status === 401) expect(await answer.text()).toContain('Name or password are wrong');
  });

  it('redirects to the requested page after the sign-in, even at the second attempt, and to no other site', async () => {
    const wanted = '/emails?to=ada%40receiver.example&by-itself=1';
    const { headers } = await ask(wanted, { headers: { Accept: 'text/html' } });
    const page = await (await ask(headers.get('location')!)).text();
    const [, to] = /name="to" value="([^"]+)"/.exec(page)!;
    expect(to).toBe('/emails?to=ada%40receiver.example');
    // A separate account: attempts for a name from one address are limited.
    const hedy = await createOperator(accounts, TESTS, { name: 'hedy' });
    const again = await (await signIn({ ...hedy, password: 'x', to: to! })).text();
    expect(again).toContain(`name="to" value="${to}"`);
    expect((await signIn({ ...hedy, to: to! })).headers.get('location')).toBe(to);
    expect((await signIn({ ...hedy, to: '//evil.example' })).headers.get('location')).toBe('/');
  });

  it('leads on from a link on another site, with which browsers send no cookie, and shows its form to whoever is not signed in', async () => {
    const shown = async (site: string): Promise<[string | null, boolean]> => {
      const page = await ask('/sign-in?to=/emails', { headers: { 'Sec-Fetch-Site': site } });
      return [page.headers.get('refresh'), (await page.text()).includes('<form')];
    };
    expect(await shown('cross-site')).toEqual(['0; url=/emails', false]);
    for (const site of ['same-origin', 'none']) expect(await shown(site)).toEqual([null, true]);
  });

  it('says how to submit a form again that was sent after the end of the session', async () => {
    const answer = await ask('/suppressions', {
      method: 'POST',
      headers: { 'Accept': 'text/html', 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ email: 'ada@receiver.example' }),
    });
    const page = await answer.text();
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, CHALLENGE]);
    expect(page).toContain('Your session has ended, and nothing was changed');
    expect(page).toContain('<a href="/sign-in" target="_blank">');
  });

  it('escapes the name that it repeats', async () => {
    const page = await (await signIn({ name: '"><script>alert(1)</script>', password: 'x' })).text();
    expect(page).not.toContain('<script>');
  });

  it('signs in with a cookie that is HttpOnly and SameSite=Strict', async () => {
    const answer = await signIn({ name: ' ADA ', password: ` ${ada.password} ` });
    expect(answer.status).toBe(303);
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^posthorn-session=[\w-]{43}; Max-Age=43200; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/,
    );
  });

  it('binds the cookie to the host and browsers to TLS where it is reached over HTTPS', async () => {
    const secure = await stack.startApp('dashboard', { DASHBOARD_URL: 'https://dashboard.example.com' });
    const answer = await fetch(`${secure.url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(ada),
      headers: { Origin: 'https://dashboard.example.com' },
    });
    expect(answer.headers.getSetCookie()[0]).toMatch(
      /^__Host-posthorn-session=.*; Path=\/; .*Secure; SameSite=Strict$/,
    );
    expect(answer.headers.get('strict-transport-security')).toBe('max-age=31536000');
  });

  it.each<[string, Record<string, string>]>([
    ['another site', FROM_ELSEWHERE],
    ['another origin of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['another origin, by an old browser', { Origin: 'http://localhost:1' }],
    ['no page at all', { Origin: '' }],
  ])('changes nothing on requests from %s', async (_what, headers) => {
    const refused = await signIn(ada, headers);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain(
      `at ${origin()}; open it there and try again. If you reach it at another address, set DASHBOARD_URL to that`,
    );
    const cookie = await cookieOf(ada);
    const answer = await ask('/sign-out', { method: 'POST', headers: { Cookie: cookie, ...headers } });
    expect(answer.status).toBe(403);
    expect((await ask('/', as(cookie))).status).toBe(200);
  });

  it('changes nothing on requests without an origin, as old browsers send them from other sites too', async () => {
    const cookie = await viewerCookie();
    expect((await ask('/sign-out', { method: 'POST', headers: { Cookie: cookie } })).status).toBe(403);
    expect((await ask('/', as(cookie))).status).toBe(200);
  });

  it('shows whether emails are being sent', async () => {
    await stack.send();
    const answer = await ask('/', as(await viewerCookie()));
    const page = await answer.text();
    const { workspaceId } = stack.tenant;
    expect(page).toMatch(/Emails accepted in the last hour: 1\b/);
    expect(page).toMatch(/>Emails<\/a>\s*<\/td>\s*<td class="n" data-label="Due">1<\/td>/);
    expect(page).toMatch(
      new RegExp(
        `<a href="/emails[?]status=NOT_LEFT&amp;workspace=${workspaceId}">${workspaceId}.now</a>\\s*<a href="/workspaces/${workspaceId}"><bdi>[^<]+</bdi></a>\\s*</td>\\s*<td>Emails</td>\\s*<td class="n" data-label="Due">1</td>`,
      ),
    );
    expect(page).toContain('vera (viewer)');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('same-origin');
  });

  it('shows how many emails wait for their next attempt, which are not due, and leads to them', async () => {
    const retried = async (): Promise<string | undefined> => {
      const page = await (await ask('/', as(await viewerCookie()))).text();
      const cells = /<a href="\/emails[?]status=NOT_LEFT">Emails<\/a>([^]*?)<\/tr>/.exec(page)?.[1];
      return /data-label="To be retried">\s*(?:<a href="\/retries">)?([^<]*)</.exec(cells ?? '')?.[1]?.trim();
    };
    expect(await retried()).toBe('0');
    const { id } = emailIn(await stack.send());
    await stack.database.pool.query(
      `UPDATE outbox SET state = 'waiting', attempts = 1, due_at = now() + interval '1 hour' WHERE subject_id = $1`,
      [uuidOf(id as EmailId)],
    );
    await stack.send({ sendAt: fromNow(DAY_MS) });
    expect(await retried()).toBe('1');
  });

  it('reloads the overview by itself until it is asked not to', async () => {
    const cookie = await viewerCookie();
    const reloading = await ask('/', as(cookie));
    expect(reloading.headers.get('refresh')).toMatch(/^15;/);
    const [, still] = /<a href="([^"]+)">Stop reloading</.exec(await reloading.text())!;
    const page = await ask(still!, as(cookie));
    expect([page.status, page.headers.get('refresh')]).toEqual([200, null]);
    expect(await page.text()).toContain('<a href="/">Reload every 15 s</a>');
  });

  it('shows lanes that are paused by operators, however many webhooks are paused, and that there are more', async () => {
    const { pool } = stack.database;
    await pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', '*', 'The relay moves'), ('email', 'a.now', 'Spam')`,
    );
    await pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason, paused_at)
       SELECT 'webhook', 'wh_' || n, 'failing', now() + n * interval '1 second' FROM generate_series(1, 1000) n`,
    );
    const page = await (await ask('/', as(await viewerCookie()))).text();
    await pool.query('DELETE FROM paused_lanes');
    const [, held] = /What is paused<\/h2>([^]*)<h2>Receivers/.exec(page)!;
    expect(
      [...held!.matchAll(/<tr>\s*<td>([^<]+)<\/td>\s*<td class="wrap first">([^<]*)</g)].map(
        ([, ...row]) => row,
      ),
    ).toEqual([
      ['Emails', 'everything'],
      ['Emails', 'a.now'],
      ...Array.from({ length: 18 }, (_, index) => ['Deliveries to webhooks', `wh_${1_000 - index}`]),
    ]);
    for (const status of ['PAUSED', 'DISABLED']) expect(held).toContain(`href="/webhooks?status=${status}"`);
  });

  it('names the workspace of a paused lane', async () => {
    const lane = `${stack.tenant.workspaceId}.bulk`;
    const { pool } = stack.database;
    await pool.query(`INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', $1, 'Spam')`, [
      lane,
    ]);
    const page = await (await ask('/', as(await viewerCookie()))).text();
    await pool.query('DELETE FROM paused_lanes');
    expect(page).toMatch(new RegExp(`>${lane}</a>\\s*<a [^>]+><bdi>(?!wrk_)[^<]+</bdi>`));
  });

  it('names a lane of deliveries by the URL of its webhook, and its workspace', async () => {
    const url = 'https://receiver.example/of-a-lane';
    const body = { url, events: ['CONTACT_CREATED'] };
    const { id } = (await stack.api().post('/v1/webhooks', body)).body['webhook'] as { id: string };
    await stack.api().post(`/v1/webhooks/${id}`, { status: 'PAUSED' });
    const page = await (await ask('/', as(await viewerCookie()))).text();
    await stack.api().send('DELETE', `/v1/webhooks/${id}`, undefined);
    expect(page).toMatch(
      new RegExp(`href="/webhooks/${id}">${url}</a>\\s*<a [^>]+><bdi>(?!wrk_)[^<]+</bdi>`),
    );
  });

  it('says that no sender runs if none does, and where paused lanes are resumed', async () => {
    await stack.database.pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', 'a.now', 'Spam')`,
    );
    const page = await (await ask('/', as(await viewerCookie()))).text();
    await stack.database.pool.query('DELETE FROM paused_lanes');
    expect(page).toMatch(
      /<p class="bad" role="alert">\s*No sender has reported its relays in the last minute/,
    );
    expect(page).toContain('<a href="/pauses">');
    expect(page).toContain('<a href="/webhooks?receiver=failing">');
  });

  it('shows the last hour by the clock of the database, whatever its own machine says', async () => {
    const late = await stack.startApp('dashboard', wrongClock(-3 * 3_600));
    await stack.send();
    const cookie = await viewerCookie();
    const page = await (await fetch(late.url, as(cookie))).text();
    expect(page).toMatch(/<title>\d\d:\d\d UTC: [1-9]\d*, of these 0 bounced or failed by now<\/title/);
  });

  it('shows how much of what was accepted, sent, posted and came back went wrong', async () => {
    const { id } = emailIn(await stack.send());
    const { pool } = stack.database;
    await pool.query(`UPDATE emails SET status = 'BOUNCED' WHERE id = $1`, [uuidOf(id as EmailId)]);
    await pool.query(
      `INSERT INTO rate_minutes (minute, what, label, count)
       SELECT date_trunc('minute', now()), * FROM (VALUES
         ('email', 'sent', 2), ('email', 'bounced', 1), ('email', 'failed', 1), ('email', 'deferred', 9),
         ('report', 'failed', 3), ('report', 'complaint', 4), ('webhook', 'succeeded', 5), ('webhook', 'http', 6)) r`,
    );
    const page = await (await ask('/', as(await viewerCookie()))).text();
    const shown = page.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
    expect(shown).toMatch(
      /Emails accepted in the last hour: \d+, at most \d+ a minute; 1 bounced or failed by now/,
    );
    for (const chart of [
      'Emails handed to relays in the last hour: 4, at most 4 a minute; 2 bounced or failed',
      'Bounces and complaints reported in the last hour: 7, at most 7 a minute; 4 complaints',
      'Deliveries posted to webhooks in the last hour: 11, at most 11 a minute; 6 failed, to be retried',
    ])
      expect(shown).toContain(chart);
  });

  it('has a name for each column of its tables, which a keyboard can scroll', async () => {
    await stack.database.pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', 'x.bulk', 'tests')`,
    );
    const cookie = await viewerCookie();
    for (const path of ['/', '/emails', '/suppressions', '/webhooks']) {
      const page = await (await ask(path, as(cookie))).text();
      expect([
        ...page.matchAll(/<th\b(?! scope="col")|<th\b[^>]*>\s*<|class="scroll"(?! tabindex="0")/g),
      ]).toEqual([]);
    }
  });

  it('shows the queues to both roles, and lets only operators change them', async () => {
    const [operator, looker] = [await cookieOf(ada), await viewerCookie()];
    for (const cookie of [operator, looker]) {
      const page = await (await ask('/queues', as(cookie))).text();
      expect(page).toContain('__UI_CONFIG__');
      expect(page).toMatch(/<noscript[^]*The queues need JavaScript/);
      const { queues } = (await (await ask('/queues/api/queues', as(cookie))).json()) as {
        queues: { name: string; readOnlyMode: boolean }[];
      };
      expect(queues.map(({ name }) => name)).toContain('email-turns');
      expect(new Set(queues.map(({ readOnlyMode }) => readOnlyMode))).toEqual(new Set([cookie === looker]));
    }
    const change = (cookie: string, path: string) =>
      ask(`/queues/api/queues/${path}`, {
        method: 'PUT',
        ...as(cookie, { 'Sec-Fetch-Site': 'same-origin' }),
      });
    for (const path of ['maintenance/pause', 'pause', 'resume'])
      expect((await change(looker, path)).status).toBe(403);
    for (const path of ['maintenance/resume', 'resume', 'maintenance/promote'])
      expect((await change(operator, path)).status).toBe(200);
  });

  it('answers an invalid percent-encoding in a path of the queues as an error of the caller', async () => {
    const cookie = await viewerCookie();
    const expected = {
      '/queues/api/queues?activeQueue=%zz': 400,
      '/queues/api/job-schedulers?queueName=%zz': 400,
      '/queues/api/queues/%zz/1': 404,
      '/queues/static/%zz': 404,
      '/queues/%zz': 404,
    };
    const statuses: Record<string, number> = {};
    for (const path of Object.keys(expected)) statuses[path] = (await ask(path, as(cookie))).status;
    expect(statuses).toEqual(expected);
  });

  it('lets nobody pause or limit a queue, and says how to pause emails instead', async () => {
    const operator = as(await cookieOf(ada), {
      'Sec-Fetch-Site': 'same-origin',
      'Content-Type': 'application/json',
    });
    const put = (path: string, body = '{}') =>
      ask(`/queues/api/queues/${path}`, { method: 'PUT', body, ...operator });
    for (const [path, body] of [
      ['email-turns/pause'],
      ['pause'],
      ['PAUSE/'],
      ['email-turns/concurrency', '{"concurrency":1}'],
      ['email-turns/rate-limit', '{"max":1,"duration":3600000}'],
    ] as const) {
      const answer = await put(path, body);
      expect([path, answer.status, await answer.json()]).toEqual([
        path,
        403,
        { error: { key: 'ERRORS.FORBIDDEN' }, message: expect.stringContaining('`posthorn pause`') },
      ]);
    }
    const { queues } = (await (await ask('/queues/api/queues', operator)).json()) as {
      queues: { isPaused: boolean }[];
    };
    expect(queues.filter(({ isPaused }) => isPaused)).toEqual([]);
    // Limits that were set without the dashboard can be removed.
    expect((await put('email-turns/concurrency', '{"concurrency":0}')).status).toBe(200);
    expect((await put('email-turns/rate-limit', '{"max":null}')).status).toBe(200);
  });

  it('serves signed-in people while a thousand incomplete forms are sent', async () => {
    const session = as(await viewerCookie());
    const lines = ['POST /sign-in HTTP/1.1', 'Host: a', `Origin: ${origin()}`, 'Expect: 100-continue'];
    const head = [
      ...lines,
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 1000',
      '',
      'a',
    ];
    const strangers = Array.from({ length: 1_000 }, () => connect(dashboard.port, '127.0.0.1'));
    try {
      // Each is in progress once it was told to continue.
      const areHeard = strangers.map((stranger) => once(stranger, 'data'));
      for (const stranger of strangers) stranger.write(head.join('\r\n'));
      await Promise.all(areHeard);
      expect((await ask('/', session)).status).toBe(200);
    } finally {
      for (const stranger of strangers) stranger.destroy();
    }
  });

  it('signs out: the cookie is no longer valid', async () => {
    const cookie = await cookieOf(ada);
    const answer = await ask('/sign-out', { method: 'POST', ...as(cookie, { Origin: origin() }) });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in']);
    expect((await ask('/', as(cookie))).status).toBe(303);
    // Signing out without a session has the same result.
    const again = await ask('/sign-out', { method: 'POST', ...as(cookie, { Origin: origin() }) });
    expect([again.status, again.headers.get('location')]).toEqual([303, '/sign-in']);
  });

  it('records in the audit log who signs in and out, and from where, and deletes that after a year', async () => {
    const { pool } = stack.database;
    const cookie = await cookieOf(viewer);
    await ask('/sign-out', { method: 'POST', ...as(cookie, { Origin: origin() }) });
    const vera = { actor: operator('vera'), detail: { network: '127.0.0.1' } };
    const [newest] = await auditEntries('operator.signed_in');
    expect(newest).toMatchObject(vera);
    expect((await auditEntries('operator.signed_out'))[0]).toMatchObject(vera);
    // Nothing is recorded without a session.
    const signedOut = (await auditEntries('operator.signed_out')).length;
    await ask('/sign-out', { method: 'POST', ...as(cookie, { Origin: origin() }) });
    expect(await auditEntries('operator.signed_out')).toHaveLength(signedOut);
    const accountsMade = (await auditEntries('operator.created')).length;
    const old = await pool.query<{ action: string }>(
      `UPDATE audit_log SET id = uuid_v7_floor(at - interval '366 days' + row_number * interval '1 s')
       FROM   (SELECT id AS known, row_number() OVER () FROM audit_log) AS numbered
       WHERE  id = known RETURNING action`,
    );
    expect(old.rows.map(({ action }) => action)).toContain('operator.created');
    await cookieOf(viewer);
    expect([
      (await auditEntries('operator.signed_in')).length,
      await auditEntries('operator.signed_out'),
    ]).toEqual([1, []]);
    expect(await auditEntries('operator.created')).toHaveLength(accountsMade);
  });

  it('ends a session after an hour without activity, and any session after twelve hours', async () => {
    const { pool } = stack.database;
    const cookie = await cookieOf(viewer);
    await pool.query("UPDATE operator_sessions SET last_seen_at = now() - interval '61 minutes'");
    expect((await ask('/', as(cookie))).status).toBe(303);
    await pool.query(
      "UPDATE operator_sessions SET last_seen_at = now(), created_at = now() - interval '721 minutes'",
    );
    expect((await ask('/', as(cookie))).status).toBe(303);
    await cookieOf(viewer);
    expect(
      await stack.count(
        "SELECT count(*)::int FROM operator_sessions WHERE created_at < now() - interval '12 hours'",
      ),
    ).toBe(0);
  });

  it('does not count the reloading of an open page as activity', async () => {
    const { pool } = stack.database;
    const cookie = await cookieOf(viewer);
    const lastSeen = async (path: string): Promise<number> => {
      await pool.query("UPDATE operator_sessions SET last_seen_at = now() - interval '30 minutes'");
      expect((await ask(path, as(cookie))).status).toBe(200);
      return stack.count(
        "SELECT min(extract(epoch FROM now() - last_seen_at) / 60)::int AS count FROM operator_sessions WHERE last_seen_at > now() - interval '31 minutes'",
      );
    };
    const { headers } = await ask('/', as(cookie));
    const [, again] = /^15; url=(.+)$/.exec(headers.get('refresh')!)!;
    const itself = new URL(again!, `${dashboard.url}/`);
    expect([itself.pathname, await lastSeen(itself.pathname + itself.search)]).toEqual(['/', 30]);
    expect(await lastSeen('/queues/api/queues')).toBe(30);
    for (const path of ['/', '/emails', '/queues']) expect([path, await lastSeen(path)]).toEqual([path, 0]);
    await pool.query("UPDATE operator_sessions SET last_seen_at = now() - interval '61 minutes'");
    expect((await ask(itself.pathname + itself.search, as(cookie))).status).toBe(303);
  });

  it('ends all sessions of an account whose password is changed or that is removed', async () => {
    const cookie = await cookieOf(viewer);
    const renewed = await resetOperatorPassword(accounts, TESTS, 'vera');
    expect((await ask('/', as(cookie))).status).toBe(303);
    expect((await signIn(viewer)).status).toBe(401);
    const again = await cookieOf(renewed);
    await removeOperator(accounts, TESTS, 'vera');
    expect((await ask('/', as(again))).status).toBe(303);
    expect(
      await stack.count(
        'SELECT count(*)::int FROM operator_sessions s JOIN operator_accounts a ON a.id = s.account_id WHERE a.name = $1',
        ['vera'],
      ),
    ).toBe(0);
  });

  it('limits sign-in attempts for a name from one address, without affecting other addresses or names', async () => {
    const behindProxy = await stack.startApp('dashboard', { TRUSTED_PROXIES: '127.0.0.1' });
    const statusFrom = async (address: string, credentials: Record<string, string>): Promise<number> => {
      const { status, headers } = await fetch(`${behindProxy.url}/sign-in`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(credentials),
        headers: { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': address },
      });
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      return status;
    };
    /** Sent concurrently: each takes as long as comparing a password, and on a busy machine sequential attempts would be allowed again as fast. */
    const tryFrom = async (address: string, name: string): Promise<void> => {
      const tries = (): Promise<number[]> =>
        Promise.all(Array.from({ length: 14 }, () => statusFrom(address, { name, password: 'x' })));
      while (!(await tries()).includes(429));
    };
    const stranger = '203.0.113.7';
    await tryFrom(stranger, 'ada');
    expect(await statusFrom('203.0.113.8', ada)).toBe(303);
    expect(await statusFrom(stranger, { name: 'grace', password: 'x' })).toBe(401);
    const refused = { actor: POSTHORN, detail: { network: stranger, name: 'ada' } };
    expect(await auditEntries('operator.sign_in_refused')).toMatchObject([refused]);
    // A name without an account may be a password that was typed into the wrong field.
    await tryFrom('2001:db8::7', 'grace');
    const unknown = { actor: POSTHORN, detail: { network: '2001:0db8:0000:0000::/64' } };
    expect(await auditEntries('operator.sign_in_refused')).toEqual([
      expect.objectContaining(unknown),
      expect.objectContaining(refused),
    ]);
  });

  it('answers health checks without a session, and logs no name, password or cookie', async () => {
    for (const path of ['/health/ready', '/Health/READY']) expect((await ask(path)).status).toBe(200);
    expect(dashboard.program.output).not.toMatch(/php_|posthorn-session|grace/);
  });
});

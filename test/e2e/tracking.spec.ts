import { beforeEach, describe, expect, it } from '@jest/globals';
import PostalMime from 'postal-mime';
import { type EmailId, uuidOf } from '@posthorn/kernel';
import { type AcceptedEmail, type Answer, type Api, emailIn, type ShownEmail } from './api.ts';
import { newRecipient, validEmail, Stack, type Tenant, until } from './stack.ts';
import { validTemplate } from './templates.ts';

const CLICK = /https:\/\/links\.posthorn\.example(\/t\/c\/phc_[\w-]+)/g;
const OPEN = /https:\/\/links\.posthorn\.example(\/t\/o\/pho_[\w-]{50})/g;
const TARGET = 'https://example.com/shop?a=1&b=2#top';
const HTML = `<html><body><p>See <a href="https://example.com/shop?a=1&amp;b=2#top">it</a>, <a href="mailto:a@example.com">write</a>,
<a href="https://example.com/unsubscribe/7">leave</a></p></body></html>`;
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const TRACKED = { settings: { trackClicks: true, trackOpens: true } };

interface Tracked extends ShownEmail {
  readonly engagement: {
    readonly opens: number;
    readonly clicks: number;
    readonly machineOpens: number;
    readonly machineClicks: number;
  };
}

const stack = Stack.forTests();
let tenant: Tenant;
let api: Api;
beforeEach(async () => {
  tenant = await stack.createTenant('The Shop');
  api = stack.apiAs(tenant.keys.editor);
});

async function send(change: object = {}): Promise<AcceptedEmail> {
  const body = { ...validEmail(), html: HTML, ...TRACKED, ...change };
  return emailIn(await api.post('/v1/emails', body));
}

async function mailOf({ to }: AcceptedEmail): Promise<{ html: string; text: string }> {
  const { html = '', text = '' } = await PostalMime.parse((await stack.onlyMailTo(to)).raw);
  return { html, text };
}

/** An email that was sent a minute ago, and the paths of its link and its image. */
async function sent(change: object = {}): Promise<{ id: string; click: string; open: string }> {
  const email = await send(change);
  const { html } = await mailOf(email);
  await stack.database.pool.query(`UPDATE emails SET sent_at = now() - interval '1 minute' WHERE id = $1`, [
    uuidOf(email.id as EmailId),
  ]);
  return { id: email.id, click: [...html.matchAll(CLICK)][0]![1]!, open: [...html.matchAll(OPEN)][0]![1]! };
}

/** Gives the links of a workspace a host of their own. */
async function giveHost(host: string, { workspaceId }: Tenant = tenant): Promise<void> {
  await stack.database.pool.query('UPDATE workspaces SET tracking_url = $2 WHERE id = $1', [
    uuidOf(workspaceId),
    `https://${host}`,
  ]);
}

/** Requests a path like the reader of an email, without a key. */
function visit(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return api.request(method, path, undefined, { key: null, headers: { 'User-Agent': CHROME, ...headers } });
}

/** Requests a path at a host, as a browser does; fetch would write its own `Host`. */
function visitAt(host: string, path: string): Promise<Answer> {
  const headers = [`Host: ${host}`, `User-Agent: ${CHROME}`, 'Accept: text/html', 'Connection: close'];
  return api.raw([`GET ${path} HTTP/1.1`, ...headers]);
}

async function show(id: string): Promise<Tracked> {
  return emailIn<Tracked>(await api.get(`/v1/emails/${id}`));
}

async function counted(id: string, wanted: Partial<Tracked['engagement']>): Promise<Tracked> {
  let shown = await show(id);
  await until(
    async () => {
      shown = await show(id);
      return Object.entries(wanted).every(([name, count]) => shown.engagement[name as 'opens'] === count);
    },
    `${JSON.stringify(wanted)} are counted`,
  );
  return shown;
}

describe('S17: a tracked email', () => {
  it('has tracked links and an image, and is otherwise unchanged; the text keeps the original links', async () => {
    const email = await send();
    const { html, text } = await mailOf(email);
    expect(html).toContain(
      '<a href="mailto:a@example.com">write</a>,\n<a href="https://example.com/unsubscribe/7">leave</a>',
    );
    expect(html).toMatch(/<img src="https:[^"]+" width="1" height="1"[^>]*><\/body><\/html>\s*$/);
    const restored = html.replace(/<img [^>]*>/, '').replace(CLICK, TARGET.replace('&', '&amp;'));
    expect(restored.trim()).toBe(HTML);
    expect(text).toContain(TARGET);
    expect(text).not.toContain('links.posthorn.example');
    expect(JSON.stringify([...html.matchAll(CLICK), ...html.matchAll(OPEN)])).not.toContain(email.to);
  });

  it('is sent byte for byte as its preview shows', async () => {
    const email = await send();
    const mail = await stack.onlyMailTo(email.to);
    const { body } = await api.get(`/v1/emails/${email.id}/preview`);
    expect((body['preview'] as { message: string }).message).toBe(mail.raw.toString('utf8'));
  });

  it('has links at the base URL of its workspace, if that has one, and is sent as its preview shows', async () => {
    await giveHost('links.shop.example');
    const email = await send();
    const mail = await stack.onlyMailTo(email.to);
    const { html } = await mailOf(email);
    expect(html).not.toContain('links.posthorn.example');
    const [click, open] = [...html.matchAll(/https:\/\/links\.shop\.example(\/t\/[co]\/[\w-]+)/g)];
    expect((await visit(click![1]!)).headers.get('location')).toBe(TARGET);
    expect((await visit(open![1]!)).headers.get('content-type')).toBe('image/gif');
    const { body } = await api.get(`/v1/emails/${email.id}/preview`);
    expect((body['preview'] as { message: string }).message).toBe(mail.raw.toString('utf8'));
  });

  it.each<[string, object, number, number]>([
    ['a raw one', { settings: undefined }, 1, 0],
    ['one that asks for neither', { settings: { trackClicks: false } }, 0, 0],
    ['one that asks for opens alone', { settings: { trackClicks: false, trackOpens: true } }, 0, 1],
  ])('S17: is %s as its settings say', async (_what, change, clicks, opens) => {
    const { html } = await mailOf(await send(change));
    expect([[...html.matchAll(CLICK)].length, [...html.matchAll(OPEN)].length]).toEqual([clicks, opens]);
  });

  it('is by default a templated one, whose links may come from variables', async () => {
    const template = validTemplate({
      html: '<a href="{{url}}">x</a>',
      defaults: { url: TARGET, firstName: 'x' },
    });
    await api.post('/v1/templates', template);
    const to = newRecipient();
    const email = emailIn(await api.post('/v1/emails', { template: template.name, to }));
    const { html } = await mailOf(email);
    expect([[...html.matchAll(CLICK)].length, [...html.matchAll(OPEN)].length]).toEqual([1, 1]);
    expect((await visit([...html.matchAll(CLICK)][0]![1]!)).headers.get('location')).toBe(TARGET);
  });
});

describe('S17: a link', () => {
  it('redirects at once to the signed target only, without a cookie, uncached', async () => {
    const { id, click } = await sent();
    const answer = await visit(`${click}?url=https://evil.example&u=https://evil.example`);
    expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([302, TARGET, '']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    const { timeline, engagement } = await counted(id, { clicks: 1 });
    expect(engagement).toMatchObject({
      opens: 0,
      machineClicks: 0,
      clickedAt: expect.any(String),
      openedAt: null,
    });
    expect(timeline.at(-1)).toEqual({
      event: 'CLICKED',
      createdAt: expect.any(String),
      by: 'person',
      url: TARGET,
    });
  });

  it('that is refused at the host of another workspace is not counted', async () => {
    await giveHost('links.bank.example', await stack.createTenant('The Bank'));
    const { id, click } = await sent();
    expect((await visitAt('links.bank.example', click)).status).toBe(404);
    expect((await visitAt('links.posthorn.example', click)).status).toBe(302);
    expect((await counted(id, { clicks: 1 })).engagement).toMatchObject({ machineClicks: 0 });
  });

  it('that is invalid, or of another kind, is answered with a page to browsers and an error to programs', async () => {
    const { click, open } = await sent();
    const broken = [
      `${click}A`,
      click.slice(0, -1),
      '/t/c/phc_',
      '/T/C/phc_',
      open.replace('/t/o/pho_', '/t/c/phc_'),
      `/t/c/${'A'.repeat(5_000)}`,
    ];
    for (const path of broken) {
      const page = await visit(path, { Accept: 'text/html,*/*;q=0.8' });
      expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(page.text).toContain('This link does not work');
      const error = await visit(path, { Accept: 'application/json' });
      expect(error.body).toMatchObject({ statusCode: 404, error: 'Not Found' });
    }
  });
});

describe('S17: at the host of a workspace', () => {
  const OF_ANOTHER = 'links.bank.example';
  let [unbound, bound]: string[] = [];
  beforeEach(async () => {
    await giveHost(OF_ANOTHER, await stack.createTenant('The Bank'));
    unbound = await newLink();
    await giveHost('links.shop.example:8443');
    bound = await newLink();
  });

  /** The path of the link of a new email, at whatever host. */
  async function newLink(): Promise<string> {
    const { html } = await mailOf(await send());
    return /https:\/\/[^/]+(\/t\/c\/[\w-]+)/.exec(html)![1]!;
  }

  const statusAt = async (host: string, path: string): Promise<number> => (await visitAt(host, path)).status;

  it.each(['', ':443', ':8080', '.', '.:443'])(
    'links of others are answered like those that were never signed: with "%s" after its name',
    async (rest) => {
      for (const path of [unbound!, bound!]) {
        const page = await visitAt(OF_ANOTHER + rest, path);
        expect([page.status, page.headers.get('location')]).toEqual([404, null]);
        expect(page.text).toContain('This link does not work');
      }
      expect(await statusAt(OF_ANOTHER.toUpperCase() + rest, bound!)).toBe(404);
    },
  );

  it.each(['links.shop.example', 'Links.Shop.example:8443', 'links.shop.example.'])(
    'its own links work: %s',
    async (host) => {
      expect(await statusAt(host, bound!)).toBe(302);
    },
  );

  it('its own links work that do not name the host, or name another one', async () => {
    expect(await statusAt('links.shop.example', unbound!)).toBe(302);
    await giveHost('links.new.example');
    expect(await statusAt('links.new.example', unbound!)).toBe(302);
    expect(await statusAt('links.new.example', bound!)).toBe(302);
  });

  it('links that name it work after it was given to another workspace, and no others of its former one', async () => {
    await giveHost('links.new.example');
    await giveHost('links.shop.example', await stack.createTenant('Nobody'));
    expect(await statusAt('links.shop.example', bound!)).toBe(302);
    expect(await statusAt('links.shop.example', unbound!)).toBe(404);
  });

  it('its own links work when their emails are gone', async () => {
    await stack.database.pool.query('DELETE FROM emails WHERE workspace_id = $1', [
      uuidOf(tenant.workspaceId),
    ]);
    expect(await statusAt('links.shop.example', bound!)).toBe(302);
  });

  it.each([
    'links.posthorn.example',
    'gateway:3000',
    '[::1]:3000',
    `${OF_ANOTHER}.shop.example`,
    `x_"${'x'.repeat(5_000)}`,
  ])('and at any other, which a proxy may write, the links of all work: %s', async (host) => {
    expect(await statusAt(host, unbound!)).toBe(302);
    expect(await statusAt(host, bound!)).toBe(302);
  });
});

describe('S17: the image', () => {
  it('is one pixel, uncached', async () => {
    const { id, open } = await sent();
    const answer = await visit(open);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/gif']);
    expect([answer.headers.get('content-length'), answer.headers.get('cache-control')]).toEqual([
      '42',
      'no-store',
    ]);
    expect(answer.text.startsWith('GIF89a')).toBe(true);
    const { timeline } = await counted(id, { opens: 1 });
    expect(timeline.at(-1)).toEqual({ event: 'OPENED', createdAt: expect.any(String), by: 'person' });
  });

  it('is the same for an invalid token', async () => {
    const { open } = await sent();
    for (const path of [`${open}A`, '/t/o/x', `/t/o/${'A'.repeat(5_000)}`]) {
      const answer = await visit(path);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/gif']);
    }
  });
});

describe('S17: people and programs', () => {
  it('are distinguished, and programs are only counted', async () => {
    const { id, click, open } = await sent();
    await visit(click, {}, 'HEAD');
    await visit(click, { 'Sec-Purpose': 'prefetch' });
    await visit(click, { 'User-Agent': 'Barracuda Sentinel (EE)' });
    await visit(open, { 'User-Agent': 'Mozilla/5.0' });
    const { engagement, timeline } = await counted(id, { machineClicks: 3, machineOpens: 1 });
    expect(engagement).toMatchObject({ opens: 0, clicks: 0, openedAt: null, clickedAt: null });
    expect(timeline.slice(-2).map(({ event, by, sign }) => [event, by, sign])).toEqual([
      ['CLICKED', 'machine', 'method'],
      ['OPENED', 'machine', 'user_agent'],
    ]);
  });

  it('W12: cause EMAIL_OPENED and EMAIL_CLICKED once for an email, with the email as it was sent', async () => {
    const events = ['EMAIL_OPENED', 'EMAIL_CLICKED'];
    await api.post('/v1/webhooks', { url: 'https://example.com/hook', events });
    const { id, click, open } = await sent({ groupBy: 'receipts' });
    for (let times = 0; times < 3; times += 1) await Promise.all([visit(click), visit(open)]);
    await counted(id, { opens: 3, clicks: 3 });
    const { rows } = await stack.database.pool.query<{ type: string; payload: string }>(
      'SELECT type, payload FROM events WHERE workspace_id = $1 ORDER BY type',
      [uuidOf(tenant.workspaceId)],
    );
    expect(rows.map(({ type }) => type)).toEqual(['EMAIL_CLICKED', 'EMAIL_OPENED']);
    const email = expect.objectContaining({ id, status: 'SENT', groupBy: 'receipts' });
    const data = rows.map(({ payload }) => (JSON.parse(payload) as { data: object }).data);
    expect(data).toEqual([{ email, url: TARGET }, { email }]);
    for (const query of ['', '?groupBy=receipts']) {
      const { body } = await api.get(`/v1/stats${query}`);
      expect(body).toMatchObject({ stats: { total: { accepted: 1, opened: 1, clicked: 1 } } });
    }
  });

  it('are stored without anything that identifies them', async () => {
    const { id, open } = await sent();
    await visit(open, { 'User-Agent': `${CHROME} Strange/7.7` });
    await counted(id, { opens: 1 });
    expect(stack.logs).not.toMatch(/Strange|ph[co]_[\w-]{6}/);
    const { rows } = await stack.database.pool.query(
      `SELECT g::text || v::text AS all FROM email_engagements g JOIN email_events v USING (email_id)
       WHERE g.email_id = $1 AND v.kind = 'OPENED'`,
      [uuidOf(id as EmailId)],
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/127\.0\.0\.1|::1|Strange|Chrome/);
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import PostalMime, { type Email as ParsedMail } from 'postal-mime';
import { generateKeySync, randomBytes } from 'node:crypto';
import { type EmailId, uuidOf } from '@posthorn/kernel';
import { LinkSigner } from '@posthorn/signing';
import { type AcceptedEmail, type Answer, Api, emailIn, type ShownEmail } from './api.ts';
import { contactChanges, contactStatus } from './contact-changes.ts';
import { newRecipient, validEmail, Stack, type Tenant, until } from './stack.ts';
import { validTemplate } from './templates.ts';
import { DAY_MS, fromNow } from './times.ts';

const PUBLIC_URL = 'https://mail.posthorn.example';
const LINK = /^<https:\/\/mail\.posthorn\.example(\/unsubscribe\/phu_[\w-]{50})>$/;
const AS_BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const asked = { settings: { unsubscribe: true } };

const stack = Stack.forTests({ env: { PUBLIC_URL } });
let tenant: Tenant;
let api: Api;
beforeEach(async () => {
  tenant = await stack.createTenant('The Shop');
  api = stack.apiAs(tenant.keys.editor);
});

async function send(to: string, change: object = {}): Promise<AcceptedEmail> {
  return emailIn(await api.post('/v1/emails', { ...validEmail(), to, ...change }));
}

/** The email once it is finished. */
async function finished({ id }: AcceptedEmail): Promise<ShownEmail> {
  await until(async () => (await stack.outboxRow(id)) === undefined, `${id} is finished`);
  return emailIn<ShownEmail>(await api.get(`/v1/emails/${id}`));
}

const parsed = async (to: string): Promise<ParsedMail> => PostalMime.parse((await stack.onlyMailTo(to)).raw);

const headersOf = (mail: ParsedMail): Record<string, string> =>
  Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));

/** The path of the link in a mail that has arrived. */
async function linkTo(to: string): Promise<string> {
  await finished(await send(to, asked));
  return LINK.exec(headersOf(await parsed(to))['list-unsubscribe']!)![1]!;
}

/** Sends a request without a key. */
function visit(
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string> = AS_BROWSER,
  body?: string,
) {
  return api.request(method, path, body, { key: null, headers });
}

const oneClick = (path: string): Promise<Answer> =>
  visit('POST', path, { 'Content-Type': 'application/x-www-form-urlencoded' }, 'List-Unsubscribe=One-Click');

const statusOf = (email: string): Promise<string | undefined> => contactStatus(api, email);
const recordedChanges = (): Promise<string[]> => contactChanges(stack, tenant.workspaceId);

describe('S20: an email with the setting `unsubscribe`', () => {
  it('has both headers, byte for byte as its preview shows', async () => {
    const to = newRecipient();
    const shown = await finished(await send(to, asked));
    const headers = headersOf(await parsed(to));
    expect(headers['list-unsubscribe']).toMatch(LINK);
    expect(headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
    expect(headers['list-unsubscribe']).not.toContain(to.split('@')[0]);
    const { body } = await api.get(`/v1/emails/${shown.id}/preview`);
    expect(body['preview']).toMatchObject({ sha256: shown.timeline.at(-1)!['messageSha256'] });
  });

  it('has no such headers without the setting', async () => {
    const to = newRecipient();
    await send(to, { html: '<p>{{unsubscribeUrl}}</p>' });
    const mail = await parsed(to);
    expect(Object.keys(headersOf(mail)).filter((name) => name.startsWith('list-'))).toEqual([]);
    expect(mail.html).toContain('{{unsubscribeUrl}}');
  });

  it('has the link where a raw email refers to it', async () => {
    const to = newRecipient();
    const html = '<a href="{{unsubscribeUrl}}">Stop</a> {{name}}';
    await send(to, { ...asked, html, text: 'Stop: {{ unsubscribeUrl }}' });
    const mail = await parsed(to);
    const url = headersOf(mail)['list-unsubscribe']!.slice(1, -1);
    expect(mail.html).toContain(`<a href="${url}">Stop</a> {{name}}`);
    expect(mail.text).toContain(`Stop: ${url}`);
  });

  it('has the link where its template prints it, in HTML and in the generated text', async () => {
    const html = '<p>Hello</p><a href="{{unsubscribeUrl}}">Stop</a>';
    const template = validTemplate({ html, unsubscribe: true });
    const made = await api.post('/v1/templates', template);
    expect(made.body).toMatchObject({ template: { unsubscribe: true } });
    const { id, name } = made.body['template'] as { id: string; name: string };
    const to = newRecipient();
    const variables = { firstName: 'Ada', unsubscribeUrl: 'https://elsewhere.example' };
    expect((await api.post('/v1/emails', { template: name, to, variables })).status).toBe(200);
    const mail = await parsed(to);
    const url = headersOf(mail)['list-unsubscribe']!.slice(1, -1);
    expect([mail.html, mail.text]).toEqual([
      expect.stringContaining(`href="${url}"`),
      expect.stringContaining(url),
    ]);
    const preview = await api.post(`/v1/templates/${id}/preview`, { variables: { firstName: 'Ada' } });
    expect([preview.status, preview.text]).toEqual([
      200,
      expect.stringContaining(`${PUBLIC_URL}/unsubscribe/example`),
    ]);
    const without = { template: name, to, variables: { firstName: 'Ada' }, settings: { unsubscribe: false } };
    const refused = await api.post('/v1/emails', without);
    expect([refused.status, refused.body['message']]).toEqual([
      400,
      expect.stringContaining('Posthorn gives `unsubscribeUrl` its value if the template has `unsubscribe`'),
    ]);
    const changed = await api.post(`/v1/templates/${id}`, { unsubscribe: false });
    expect(changed.body).toMatchObject({ template: { unsubscribe: false, version: 2 } });
  });
});

describe('S20: the link', () => {
  it('opens a page with a button, and changes nothing by itself', async () => {
    const to = newRecipient();
    const path = await linkTo(to);
    for (let times = 0; times < 3; times += 1) {
      const page = await visit('GET', path);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';.*form-action 'self'/);
      expect(page.headers.get('set-cookie')).toBeNull();
      expect(page.text).toContain('<button>Unsubscribe</button>');
      expect(page.text).not.toContain(to);
      expect(page.text).not.toMatch(/<script|https?:\/\//);
    }
    expect([await statusOf(to), await recordedChanges()]).toEqual([undefined, []]);
  });

  it('W11: unsubscribes by one click in a mail client; a second one changes nothing', async () => {
    const to = newRecipient();
    const path = await linkTo(to);
    const boundary = '----x';
    const multipart = `--${boundary}\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--${boundary}--\r\n`;
    const type = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
    const answers = [await oneClick(path), await oneClick(path), await visit('POST', path, type, multipart)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await statusOf(to)).toBe('UNSUBSCRIBED');
    expect(await recordedChanges()).toEqual([
      'CONTACT_CREATED',
      'CONTACT_UNSUBSCRIBED',
      'contact.unsubscribed recipient',
    ]);
  });

  it('N5: is reported after the contact that it creates, also in the feed', async () => {
    const paths = await Promise.all(Array.from({ length: 12 }, () => linkTo(newRecipient())));
    for (const path of paths) expect((await oneClick(path)).status).toBe(200);
    const read = async (): Promise<{ event: string }[]> =>
      ((await api.get('/v1/events')).body['events'] as { items: { event: string }[] }).items;
    await until(async () => (await read()).length === 24, 'the events are shown');
    const names = (await read()).map(({ event }) => event);
    expect(names).toEqual(paths.flatMap(() => ['CONTACT_CREATED', 'CONTACT_UNSUBSCRIBED']));
  });

  it('unsubscribes once, however many clicks are concurrent', async () => {
    const to = newRecipient();
    const path = await linkTo(to);
    const answers = await Promise.all(Array.from({ length: 8 }, () => oneClick(path)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await recordedChanges()).toEqual([
      'CONTACT_CREATED',
      'CONTACT_UNSUBSCRIBED',
      'contact.unsubscribed recipient',
    ]);
  });

  it('unsubscribes from its own workspace, from which another one’s unsubscribed contact keeps nothing back', async () => {
    const to = newRecipient();
    const other = stack.apiAs((await stack.createTenant('Another')).keys.editor);
    const { contact } = (await other.post('/v1/contacts', { email: to })).body as { contact: { id: string } };
    await other.request('POST', `/v1/contacts/${contact.id}/unsubscribe`, undefined);
    expect((await oneClick(await linkTo(to))).status).toBe(200);
    expect(await statusOf(to)).toBe('UNSUBSCRIBED');
  });

  it('W11: subscribes again by the button of the next page', async () => {
    const to = newRecipient().toUpperCase();
    await api.post('/v1/contacts', { email: to.toLowerCase() });
    const path = await linkTo(to);
    const press = (page: Answer, at: string): string =>
      new URL(/<form method="post" action="([^"]+)">/.exec(page.text)![1]!, `https://x${at}`).pathname;
    const offered = await visit('GET', path);
    expect(press(offered, path)).toBe(path);
    const done = await visit('POST', path);
    expect(await statusOf(to)).toBe('UNSUBSCRIBED');
    expect(done.text).toContain('You are unsubscribed');
    const again = press(done, path);
    const back = await visit('POST', again);
    expect([back.status, back.text]).toEqual([200, expect.stringContaining('subscribed again')]);
    expect(await statusOf(to)).toBe('SUBSCRIBED');
    expect(press(back, again)).toBe(path);
    const reopened = await visit('GET', again);
    expect([reopened.status, reopened.text]).toEqual([
      405,
      expect.stringContaining('Open the link in the mail'),
    ]);
    expect(await statusOf(to)).toBe('SUBSCRIBED');
    expect(press(await visit('GET', `${path}/`), `${path}/`)).toBe(path);
    expect(await recordedChanges()).toEqual([
      'CONTACT_CREATED',
      'CONTACT_RESUBSCRIBED',
      'CONTACT_UNSUBSCRIBED',
      'contact.resubscribed recipient',
      'contact.unsubscribed recipient',
    ]);
  });

  it('is 404 for guessed tokens, and reveals nothing', async () => {
    const path = await linkTo(newRecipient());
    const { id } = await send(newRecipient());
    const foreign = new LinkSigner([{ id: 'x', key: generateKeySync('aes', { length: 256 }) }]).sign(
      'unsubscribe',
      uuidOf(id as EmailId),
    );
    const changed = path.slice(0, -1) + (path.endsWith('A') ? 'Q' : 'A');
    const nobody = newRecipient();
    const gone = await linkTo(nobody);
    await stack.database.pool.query('DELETE FROM emails WHERE to_address = $1', [nobody]);
    const others = [
      changed,
      gone,
      `/unsubscribe/${foreign}`,
      '/unsubscribe/example',
      `/unsubscribe/${'x'.repeat(5_000)}`,
    ];
    const pages = await Promise.all(others.flatMap((one) => [visit('GET', one), visit('POST', one)]));
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([404]));
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
    expect(pages[0]!.text).toContain('This link does not work');
    const program = await visit('POST', changed, {});
    expect([program.status, program.body]).toEqual([
      404,
      expect.objectContaining({ statusCode: 404, error: 'Not Found' }),
    ]);
    expect(await recordedChanges()).toEqual([]);
  });

  it('is never logged', async () => {
    const path = await linkTo(newRecipient());
    await oneClick(path);
    expect((await visit('GET', `${path}/nowhere`)).status).toBe(404);
    expect(stack.logs).not.toContain(path.slice(-40));
  });
});

describe('S20: an unsubscribed recipient', () => {
  it('does not get emails with the setting, but gets the others', async () => {
    const to = newRecipient();
    expect(await linkTo(newRecipient())).toMatch(/phu_/);
    await api.post('/v1/contacts', { email: to });
    const { body } = await api.get(`/v1/contacts?email=${to}`);
    const { id } = (body['contacts'] as { items: { id: string }[] }).items[0]!;
    const early = await send(to, { ...asked, sendAt: fromNow(DAY_MS) });
    await api.request('POST', `/v1/contacts/${id}/unsubscribe`, undefined);
    await stack.makeDue(early.id);
    const [late, receipt] = await Promise.all([send(to.toUpperCase(), asked), send(to)]);
    for (const email of [early, late]) {
      const shown = await finished(email);
      expect([shown.status, shown.timeline.at(-1)]).toMatchObject(['SUPPRESSED', { reason: 'unsubscribed' }]);
    }
    expect((await finished(receipt)).status).toBe('SENT');
    await api.request('POST', `/v1/contacts/${id}/resubscribe`, undefined);
    expect((await finished(await send(to, asked))).status).toBe('SENT');
    expect(stack.mailsTo(to)).toHaveLength(2);
  });
});

describe('S20: a recipient who unsubscribed, and whose contact was deleted', () => {
  let to: string;
  let path: string;
  beforeEach(async () => {
    to = newRecipient();
    path = await linkTo(to);
    await oneClick(path);
    const { body } = await api.get(`/v1/contacts?email=${encodeURIComponent(to)}`);
    const [{ id }] = (body['contacts'] as { items: [{ id: string }] }).items;
    expect((await api.request('DELETE', `/v1/contacts/${id}`, undefined)).status).toBe(200);
  });

  const expectWithheld = async (): Promise<void> => {
    expect(await finished(await send(to, asked))).toMatchObject({ status: 'SUPPRESSED' });
  };

  it('stays unsubscribed, whether there is a contact or not', async () => {
    await expectWithheld();
    await send(to.toUpperCase().replace('@EXAMPLE', '@example'), { contactProperties: { plan: 'pro' } });
    expect(await statusOf(to)).toBe('UNSUBSCRIBED');
    await expectWithheld();
  });

  it('W11: is reported as unsubscribed when the contact is created again', async () => {
    const { body } = await api.post('/v1/contacts', { email: to });
    expect(body).toMatchObject({ contact: { status: 'UNSUBSCRIBED' }, isCreated: true });
    expect(await recordedChanges()).toEqual(
      [
        ...[
          'CONTACT_CREATED',
          'CONTACT_CREATED',
          'CONTACT_DELETED',
          'CONTACT_UNSUBSCRIBED',
          'CONTACT_UNSUBSCRIBED',
        ],
        ...['contact.deleted api_key', 'contact.unsubscribed recipient'],
      ].sort(),
    );
  });

  it('gets emails again after resubscribing, by the API or by the link', async () => {
    const { body } = await api.post('/v1/contacts', { email: to });
    const { id } = body['contact'] as { id: string };
    await api.post(`/v1/contacts/${id}/resubscribe`, {});
    expect(await finished(await send(to, asked))).toMatchObject({ status: 'SENT' });
    await oneClick(path);
    await api.request('DELETE', `/v1/contacts/${id}`, undefined);
    expect((await visit('GET', path)).text).toContain('unsubscribed');
    expect((await visit('POST', `${path}/resubscribe`)).status).toBe(200);
    expect(await statusOf(to)).toBe('SUBSCRIBED');
    expect(await finished(await send(to, asked))).toMatchObject({ status: 'SENT' });
  });

  it('is subscribed in other workspaces', async () => {
    const other = await stack.createTenant('Elsewhere');
    const { body } = await stack.apiAs(other.keys.editor).post('/v1/contacts', { email: to });
    expect(body).toMatchObject({ contact: { status: 'SUBSCRIBED' } });
  });
});

describe('S20: the holder of a link', () => {
  it('can subscribe again with it only a limited number of times; unsubscribing is never refused', async () => {
    const path = await linkTo(newRecipient());
    const again: Answer[] = [];
    while (again.length < 40 && again.at(-1)?.status !== 429) {
      expect((await oneClick(path)).status).toBe(200);
      again.push(await visit('POST', `${path}/resubscribe`));
    }
    const allowed = again.length - 1;
    expect(again.map(({ status }) => status)).toEqual([...Array<number>(allowed).fill(200), 429]);
    // Where Redis did not answer in time, the gateway has counted some of them by itself (rule R3), and they come on top.
    const mayBeMore = stack.logs.includes('did not answer the rate limiter in time');
    expect(mayBeMore ? Math.min(allowed, 10) : allowed).toBe(10);
    const refused = again.at(-1)!;
    expect(refused.text).toContain('<h1>Try again in a few minutes</h1>');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(
      (await recordedChanges()).filter((what) => what === 'contact.resubscribed recipient'),
    ).toHaveLength(allowed);
    expect((await oneClick(path)).status).toBe(200);
    expect(await visit('POST', `${await linkTo(newRecipient())}/resubscribe`)).toMatchObject({ status: 200 });
  });
});

describe('R1: guessing links', () => {
  it.each(['/invitations/phi_', '/verify/identity/phv_'])('of %s is refused, too', async (beginning) => {
    const guarded = await stack.startApp('gateway', { PUBLIC_URL, FAILED_AUTHENTICATIONS_PER_MINUTE: '5' });
    const at = new Api(guarded.url, tenant.keys.editor);
    const statuses: number[] = [];
    let last: Answer | undefined;
    while (statuses.length < 40 && last?.status !== 429) {
      const guess = `${beginning}${randomBytes(25).toString('hex')}`;
      last = await at.request('GET', guess, undefined, { key: null });
      statuses.push(last.status);
    }
    expect(last?.body['message']).toMatch(
      /^Too many links that do not work were opened from this address; wait \d+ seconds? and open the link again$/,
    );
    // The address has guessed before: whether another guess is allowed depends on the time since then.
    expect([new Set([...statuses, 404]), statuses.at(-1)]).toEqual([new Set([404, 429]), 429]);
  });

  it('is refused for an address that does it too often; valid links are not', async () => {
    const guarded = await stack.startApp('gateway', { PUBLIC_URL, FAILED_AUTHENTICATIONS_PER_MINUTE: '5' });
    const path = await linkTo(newRecipient());
    const at = new Api(guarded.url, tenant.keys.editor);
    const guess = (): Promise<Answer> =>
      at.request('GET', `/unsubscribe/phu_${randomBytes(25).toString('hex')}`, undefined, { key: null });
    const statuses: number[] = [];
    while (statuses.length < 40 && statuses.at(-1) !== 429) statuses.push((await guess()).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.slice(0, -1).every((status) => status === 404)).toBe(true);
    while (true) {
      const { status, text } = await at.request('GET', '/unsubscribe/phu_x', undefined, {
        key: null,
        headers: AS_BROWSER,
      });
      expect(text).toMatch(status === 429 ? /<h1>Try again in a few minutes/ : /<h1>This link does not work/);
      if (status === 429) break;
    }
    expect((await at.request('GET', path, undefined, { key: null })).status).toBe(200);
  });
});

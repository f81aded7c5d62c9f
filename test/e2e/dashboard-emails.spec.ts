import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import PostalMime from 'postal-mime';
import { AuditLogStore } from '@posthorn/database';
import { nowLane } from '@posthorn/domain';
import { type EmailId, newId, SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { type AppUnderTest, runOperatorCommand, type SinkScript } from '@posthorn/testing';
import { emailIn } from './api.ts';
import {
  type DashboardVisitor,
  HOSTILE,
  FROM_ELSEWHERE,
  nextPageIn,
  openDashboard,
} from './dashboard-visitor.ts';
import { newRecipient, Stack, until } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

const relay: SinkScript = (stage, { to }) => {
  if (stage === 'rcpt' && to.at(-1)?.startsWith('later-')) return { reply: '451 4.7.1 Try again later' };
  return stage === 'content' && to.at(-1)?.startsWith('lost-') ? { drop: true } : undefined;
};

const stack = Stack.forTests({ sink: { script: relay } });
let dashboard: AppUnderTest;
let ada: DashboardVisitor;
let vera: DashboardVisitor;

beforeAll(async () => {
  ({ dashboard, ada, vera } = await openDashboard(stack));
});

/** Sends an email and waits until it was sent. */
async function sent(change: Record<string, unknown> = {}): Promise<{ id: EmailId; to: string }> {
  const { id, to } = emailIn(await stack.send({ to: newRecipient(), ...change }));
  await stack.onlyMailTo(to);
  return { id: id as EmailId, to };
}

const arrived = (to: string, count: number) =>
  until(() => stack.mailsTo(to).length === count, `${count} mails arrive`);

async function scheduled(): Promise<EmailId> {
  return emailIn(await stack.send({ sendAt: fromNow(DAY_MS) })).id as EmailId;
}

describe('What the dashboard shows of a message', () => {
  it('may differ from the sent message while it has no PUBLIC_URL, about which it warns at its start', async () => {
    expect(dashboard.program.output).toContain('"msg":"PUBLIC_URL is not set: links in displayed messages');
    const told = await stack.startApp('dashboard', { PUBLIC_URL: 'https://mail.posthorn.example' });
    expect(told.program.output).not.toContain('PUBLIC_URL');
  });
});

const again = (id: string, reason = 'she deleted it', wish: string = randomUUID()) =>
  ada.post(`/emails/${id}/again`, { reason, wish });

async function audited(id: EmailId) {
  const page = { limit: 10, sort: 'createdAt.asc' } as const;
  const { items } = await new AuditLogStore(stack.database).list(stack.tenant.workspaceId, page, {
    subjectId: id,
  });
  return items.map(({ action, actor, detail }) => ({ action, actor, detail }));
}

describe('The search for emails', () => {
  it('finds the emails of a recipient in all workspaces, or in a selected one', async () => {
    const to = newRecipient();
    const other = await stack.createTenant('Other');
    const { id } = await sent({ to });
    const foreign = emailIn(await stack.send({ to }, { key: other.keys.apiUser })).id;
    const all = (await vera.get(`/emails?to=${encodeURIComponent(to)}`)).text;
    for (const one of [id, foreign]) expect(all).toContain(`/emails/${one}`);
    expect(all).toContain('<bdi>Other</bdi>');
    const one = (await vera.get(`/emails?to=${to}&workspace=${other.workspaceId}`)).text;
    expect([one.includes(foreign), one.includes(id)]).toEqual([true, false]);
  });

  it('redirects to the email with a given id or Message-ID', async () => {
    const { id } = await sent();
    const { messageId } = await stack.show(id);
    for (const text of [` ${id}`, `<${messageId}>`, messageId]) {
      for (const path of ['/emails', '/emails/counts']) {
        const { status, headers } = await vera.get(`${path}?to=${encodeURIComponent(text)}&status=`);
        expect([status, headers.get('location')]).toEqual([303, `/emails/${id}`]);
      }
    }
  });

  it('finds the emails of a recipient whose address looks like a Message-ID', async () => {
    const to = `${newId('trs', Date.now()).slice('trs_'.length)}@receiver.example`;
    const { id } = await sent({ to });
    expect((await vera.get(`/emails?to=${encodeURIComponent(to)}`)).text).toContain(`/emails/${id}`);
  });

  it('filters by status, group and time, separately and combined', async () => {
    const groupBy = randomUUID();
    const { id } = await sent({ groupBy });
    const late = await scheduled();
    const found = async (query: string) => (await vera.get(`/emails?${query}`)).text;
    expect(await found(`groupBy=${groupBy}`)).toContain(id);
    expect(await found(`groupBy=${groupBy}&status=SCHEDULED`)).toContain('Nothing was found');
    expect(await found('status=SCHEDULED')).toMatch(
      new RegExp(`${late}[^]*?to be sent at \\d{4}-[0-9: -]{14} UTC`),
    );
    const minute = (ms: number) => fromNow(ms).slice(0, 16);
    expect(await found(`after=${minute(-120_000)}`)).toContain(id);
    expect(await found(`before=${minute(-120_000)}`)).not.toContain(id);
    expect(await found(`after=${minute(120_000)}`)).toContain('Nothing was found');
  });

  it('finds those that have not left yet, in all workspaces or in one', async () => {
    const left = await sent();
    const { id } = emailIn(await stack.send({ to: `later-${newRecipient()}` }));
    await until(async () => (await stack.show(id)).timeline.length === 2, 'it was tried');
    const late = await scheduled();
    for (const where of ['', `&workspace=${stack.tenant.workspaceId}`]) {
      const { text } = await vera.get(`/emails?status=NOT_LEFT${where}`);
      expect(text).toContain(id);
      expect(text).not.toContain(left.id);
      expect(text).not.toContain(late);
      expect(text).toMatch(/<option value="NOT_LEFT" selected>SENT, not left yet</);
    }
  });

  it('says of those that failed or wait why, in the words of the relay, and of others nothing', async () => {
    const groupBy = randomUUID();
    const left = await sent({ groupBy });
    const { id } = emailIn(await stack.send({ to: `later-${newRecipient()}`, groupBy }));
    await until(async () => (await stack.show(id)).timeline.length === 2, 'it was tried');
    const { text } = await vera.get(`/emails?groupBy=${groupBy}`);
    expect(text).toContain(left.id);
    expect(text.match(/<div class="quiet cut">[^<]*/g)).toEqual([
      '<div class="quiet cut">451 4.7.1 Try again later',
    ]);
  });

  it('does not say that the relay did not answer if somebody reported a failure without any answer', async () => {
    const groupBy = randomUUID();
    const { id } = await sent({ groupBy });
    expect((await stack.api().post(`/v1/emails/${id}/reports`, { report: 'failed' })).status).toBe(200);
    const shown = async (path: string) => (await vera.get(`${path}groupBy=${groupBy}`)).text;
    expect(await shown('/emails?class=other&')).toContain(id);
    expect(await shown('/emails?class=no_reply&')).not.toContain(id);
    expect(await shown('/emails?')).toContain('<div class="quiet cut">no reason was given</div>');
    expect(await shown('/emails/counts?')).toContain('<bdi class="cut">no reason was given</bdi>');
  });

  it('finds all recipients of a domain, however it is written', async () => {
    const groupBy = randomUUID();
    const send = async (to: string) => emailIn(await stack.send({ to, groupBy })).id;
    const wanted = [await send('ada@bücher.example'), await send('grace@bücher.example')];
    const other = await send('ada@sub.bücher.example');
    for (const where of ['', `&workspace=${stack.tenant.workspaceId}`, '&status=SENT']) {
      const query = `groupBy=${groupBy}&to=${encodeURIComponent('@BÜCHER.example')}${where}`;
      const { text } = await vera.get(`/emails?${query}`);
      for (const id of wanted) expect(text).toContain(id);
      expect(text).not.toContain(other);
    }
  });

  it('counts what matches, by status, reason, domain and workspace, with links to each', async () => {
    const groupBy = randomUUID();
    const ready = [await sent({ groupBy }), await sent({ groupBy })];
    const { id } = emailIn(await stack.send({ to: 'later-ada@late.example', groupBy }));
    await until(async () => (await stack.show(id)).timeline.length === 2, 'it was tried');
    const { text } = await vera.get(`/emails/counts?groupBy=${groupBy}`);
    expect(text).toContain('3 match.');
    const counted = [
      ...text.matchAll(/(?:href="(\/emails\?[^"]+)"><bdi|<bdi class="cut")>([^<]+)<\/bdi>[^]*?>(\d+)<\/td>/g),
    ];
    expect(Object.fromEntries(counted.map(([, , what, number]) => [what, number]))).toMatchObject({
      'SENT': '3',
      'SENT, not left yet': '1',
      '451 4.7.1 Try again later': '1',
      'late.example': '1',
      'End to end': '3',
    });
    for (const what of ['SENT, not left yet', 'late.example']) {
      const [, href] = counted.find(([, , value]) => value === what)!;
      const found = (await vera.get(href!.replaceAll('&amp;', '&'))).text;
      expect(found).toContain(id);
      for (const other of ready) expect(found).not.toContain(other.id);
    }
    expect((await vera.get(`/emails/counts?groupBy=${randomUUID()}`)).text).toContain('0 match.');
  });

  it('shows for Posthorn’s own mails that they are, as their pages do', async () => {
    const email = newRecipient();
    await stack.api().post('/v1/invitations', { email, role: 'VIEWER' }, { key: stack.tenant.keys.editor });
    await stack.linkMailedTo(email);
    const found = (await vera.get(`/emails?to=${email}`)).text;
    expect(found).toContain('<bdi>Posthorn itself</bdi>');
    const [path] = /\/emails\/trs_\w+/.exec(found)!;
    expect((await vera.get(path)).text).toContain(
      `<dd><bdi>Posthorn itself</bdi> (${SYSTEM_WORKSPACE_ID})</dd>`,
    );
  });

  it('shows each email once, page by page', async () => {
    const to = newRecipient();
    const emails = Array.from({ length: 60 }, () => ({ from: 'a@example.com', to, subject: 'x', html: 'x' }));
    const batches = [emails.slice(0, 50), emails.slice(50)];
    for (const batch of batches) await stack.api().post('/v1/emails/batch', { emails: batch });
    const idsIn = (text: string) => [...text.matchAll(/href="\/emails\/(trs_\w+)"/g)].map(([, id]) => id);
    for (const query of [`to=${to}`, `to=${to}&workspace=${stack.tenant.workspaceId}`]) {
      const first = (await ada.get(`/emails?${query}`)).text;
      const second = (await ada.get(nextPageIn(first))).text;
      expect(new Set([...idsIn(first), ...idsIn(second)]).size).toBe(60);
      expect(second).not.toContain('rel="next"');
    }
  });

  it.each([
    ['an address that is none', 'to=ada', 'to'],
    ['a domain that is none', 'to=@a..b', 'to'],
    ['a status that there is not', 'status=LOST', 'status'],
    ['a workspace that is none', 'workspace=wrk_1', 'workspace'],
    ['a time that is none', 'after=tomorrow', 'after'],
    ['times with none between them', 'after=2026-02-01&before=2026-01-01', 'before'],
    ['a page that is none', 'startAt=x', 'startAt'],
    ['a field twice', 'to=a@example.com&to=b@example.com', 'to'],
    ['a NUL', 'groupBy=%00', 'groupBy'],
    ['a text without end', `groupBy=${'x'.repeat(1_001)}`, 'groupBy'],
  ])('explains what is wrong with %s', async (_what, query, field) => {
    for (const path of ['/emails', '/emails/counts']) {
      const { status, text } = await ada.get(`${path}?${query}`);
      expect(status).toBe(400);
      expect(text).toMatch(new RegExp(`role="alert">\`${field}\``));
      expect(text).toContain('<form class="search"');
    }
  });

  it('escapes its input and its results', async () => {
    const to = `"<b>${randomUUID()}"@receiver.example`;
    await stack.send({ to, subject: HOSTILE, groupBy: HOSTILE });
    for (const query of [`groupBy=${encodeURIComponent(HOSTILE)}`, `status=${encodeURIComponent(HOSTILE)}`]) {
      const { text } = await ada.get(`/emails?${query}`);
      expect(text).not.toContain('<script>');
      expect(text).not.toContain('<b>');
    }
  });
});

describe('One email', () => {
  it('is shown with its timeline and what the relay answered', async () => {
    const { id } = await sent({ subject: 'Your receipt' });
    const { status, text } = await vera.get(`/emails/${id}`);
    expect(status).toBe(200);
    for (const shown of ['Your receipt', 'ACCEPTED', 'SENT', '250', 'End to end', 'messageSha256'])
      expect(text).toContain(shown);
    expect(text).toMatch(/<iframe\s+src="\/emails\/trs_\w+\/frame"\s+sandbox=""/);
    expect(text).toContain('you are signed in as a viewer');
    expect(text).not.toContain('method="post" action="/emails');
  });

  it.each([
    'trs_x',
    'wrk_01k9zq7v3nf4b8gq2m5c6d7e8f',
    `${HOSTILE}`,
    "trs_' OR 1=1",
    '%00',
    newId('trs', Date.now()),
  ])('is answered with a page that says that it does not exist: %s', async (id) => {
    for (const path of ['', '/source', '/frame']) {
      const { status, text } = await ada.get(`/emails/${encodeURIComponent(id)}${path}`);
      expect(status).toBe(404);
      expect(text).toContain('There is no email with this id');
    }
  });

  it('shows the time of the next attempt', async () => {
    const { id } = emailIn(await stack.send({ to: `later-${newRecipient()}` }));
    await until(async () => (await stack.show(id)).timeline.length === 2, 'it was tried');
    const { text } = await vera.get(`/emails/${id}`);
    const { createdAt } = (await stack.show(id)).timeline[1]!;
    const next = new Date(Date.parse(createdAt) + 60_000).toISOString().slice(0, 16);
    expect(text).toContain('451 4.7.1 Try again later');
    expect(text).toMatch(new RegExp(`<dt>Next attempt</dt>\\s*<dd><time datetime="${next}`));
    expect(text).toContain('<b>SENT</b>: it has not been sent yet');
    expect((await vera.get(`/emails?workspace=${stack.tenant.workspaceId}`)).text).toMatch(
      new RegExp(`SENT, not left yet\\s*</td>\\s*<td class="wrap first"><a href="/emails/${id}"`),
    );
  });

  it('shows the time of the next attempt even after it was opened, but not during a pause', async () => {
    const to = `lost-${newRecipient()}`;
    const { id } = emailIn(await stack.send({ to, settings: { trackOpens: true } }));
    await until(async () => (await stack.show(id)).timeline.at(-1)!.event === 'REPLY_LOST', 'it was tried');
    // Later than in a minute, so that it waits for as long as this test may take.
    const next = fromNow(DAY_MS);
    const { pool } = stack.database;
    await pool.query('UPDATE outbox SET due_at = $2 WHERE subject_id = $1', [uuidOf(id as EmailId), next]);
    const { body } = await stack.api().get(`/v1/emails/${id}/preview`);
    const { html = '' } = await PostalMime.parse((body['preview'] as { message: string }).message);
    await stack.api().get(/\/t\/o\/pho_[\w-]+/.exec(html)![0]);
    await until(async () => (await stack.show(id)).timeline.at(-1)!.event === 'OPENED', 'that is recorded');
    const { text: opened } = await vera.get(`/emails/${id}`);
    expect(opened).toMatch(new RegExp(`<dt>Next attempt</dt>\\s*<dd><time datetime="${next}`));
    await pool.query(`INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', '*', 'It moves')`);
    const { text } = await vera.get(`/emails/${id}`);
    await pool.query('DELETE FROM paused_lanes');
    expect(text).toContain('<dt>Paused</dt>');
    expect(text).not.toContain('<dt>Next attempt</dt>');
  });

  it('shows for a sent one that it was sent, and what cannot be known', async () => {
    const settings = { trackClicks: true, trackOpens: false };
    const { id } = await sent({ settings });
    await until(async () => (await stack.show(id)).sentAt !== null, 'that is recorded');
    const { text } = await vera.get(`/emails/${id}`);
    expect(text).toContain('<b>SENT</b>: the relay took it');
    expect(text).toMatch(/<dt>Opened<\/dt>\s*<dd>not tracked: nobody knows<\/dd>/);
    expect(text).toMatch(/<dt>Clicked<\/dt>\s*<dd>0 \(and by programs 0\)<\/dd>/);
  });

  it.each([
    ['the emails of all workspaces', () => '*'],
    ['its workspace', () => nowLane(stack.tenant.workspaceId)],
  ])('shows the reason of a pause: %s, but not once it was sent', async (whose, lane) => {
    const { pool } = stack.database;
    await pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', $1, 'The relay moves')`,
      [lane()],
    );
    const to = newRecipient();
    const { id } = emailIn(await stack.send({ to }));
    const held = (await vera.get(`/emails/${id}`)).text;
    await pool.query('DELETE FROM paused_lanes');
    expect(held).toMatch(new RegExp(`<dt>Paused</dt>\\s*<dd>${whose}, since .*“The relay moves”`));
    await arrived(to, 1);
    await until(async () => (await stack.show(id)).sentAt !== null, 'that is recorded');
    expect((await vera.get(`/emails/${id}`)).text).not.toContain('<dt>Paused</dt>');
  });

  it('has a heading and a title where its subject is blank', async () => {
    const { id } = emailIn(await stack.send({ subject: ' ' }));
    const { text } = await vera.get(`/emails/${id}`);
    expect(text).toContain('<title>(no subject) – Posthorn</title>');
    expect(text).toContain('<h1><bdi class="cut">(no subject)</bdi></h1>');
  });

  it('shows its source byte for byte, with the SHA-256 of its timeline', async () => {
    const { id } = await sent({ html: `<p>${HOSTILE}</p>` });
    const { text } = await vera.get(`/emails/${id}/source`);
    const { detail } = await stack.database.prisma.emailEvent.findFirstOrThrow({
      where: { kind: 'SENT', emailId: uuidOf(id) },
    });
    expect(text).toContain((detail as { messageSha256: string }).messageSha256);
    for (const header of ['Message-ID:', 'Subject: Hello', 'MIME-Version: 1.0'])
      expect(text).toContain(header);
    expect(text).not.toContain('<script>');
  });

  it('shows a text from its first line on, although browsers drop an empty one at the beginning of `<pre>`', async () => {
    const { id } = await sent({ text: '\n  Indented', html: '<p>Indented</p>' });
    const [, shown] = /Plain text<\/h2>\s*<div[^>]*><pre>\n?([^<]*)</.exec(
      (await vera.get(`/emails/${id}/source`)).text,
    )!;
    expect(shown).toMatch(/^\n {2}Indented\s*$/);
  });

  it('marks each part of its source that is truncated', async () => {
    const { id } = await sent({ text: 'x'.repeat(300_000), html: '<p>x</p>' });
    const { text } = await vera.get(`/emails/${id}/source`);
    for (const part of ['Body', 'Plain text'])
      expect(text).toMatch(new RegExp(`<h2>${part}</h2>\\s*<p class="quiet">The first 262144 characters`));
  });

  it('shows its content in a frame whose policy forbids scripts, requests and forms', async () => {
    const html =
      '<link rel=preconnect href=//x.example><IFRAME srcdoc="&lt;link rel=preconnect&gt;"></IFRAME><p>Hi</p>';
    const { id } = await sent({ html });
    const { headers, text } = await vera.get(`/emails/${id}/frame`);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'; .*img-src data:/);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('x-dns-prefetch-control')).toBe('off');
    expect(text).toContain('<p>Hi</p>');
    expect(text).not.toMatch(/<(link|iframe)/i);
  });
});

describe('The overview', () => {
  it('shows what was sent, and the state of the relays as the senders report it', async () => {
    await sent();
    const told = [
      /Emails handed to relays in the last hour: [1-9]/,
      /sent: [1-9]/,
      /<td class="first">127\.0\.0\.1:\d+<\/td>\s*<td class="wrap ">\s*takes emails\s*<\/td>\s*<td class="n" data-label="Half within">\d+ m?s</,
    ];
    await until(async () => {
      const { text } = await vera.get('/');
      return told.every((one) => one.test(text));
    }, 'the senders have told');
  });
});

describe('What operators do with emails', () => {
  it('cancels one, and records in the audit log who did', async () => {
    const id = await scheduled();
    const { status, headers } = await ada.post(`/emails/${id}/cancel`);
    expect([status, headers.get('location')]).toEqual([303, `/emails/${id}?done=cancelled`]);
    expect((await stack.show(id)).status).toBe('CANCELLED');
    const actor = { kind: 'operator', name: 'ada' };
    expect(await audited(id)).toEqual([{ action: 'email.cancelled', actor, detail: {} }]);
    const page = (await ada.get(`/emails/${id}?done=cancelled`)).text;
    expect(page).toContain('It was cancelled.');
    expect(page).toContain('cancelled it');
    for (const word of ['', 'nonesuch', 'constructor', '__proto__']) {
      const { status: ofWord, text } = await ada.get(`/emails/${id}?done=${word}`);
      expect([ofWord, text.includes('role="status"')]).toEqual([200, false]);
    }
    const twice = await ada.post(`/emails/${id}/cancel`);
    expect([twice.status, twice.headers.get('location')]).toEqual([303, `/emails/${id}?done=cancelled`]);
    expect(await audited(id)).toHaveLength(1);
    const { id: sent } = emailIn(await stack.send());
    expect((await ada.post(`/emails/${sent}/cancel`)).status).toBe(409);
  });

  it('moves one to a time in UTC', async () => {
    const id = await scheduled();
    expect((await ada.get(`/emails/${id}`)).text).toMatch(/<input\s+id="sendAt"[^>]*\srequired/);
    const at = fromNow(2 * DAY_MS).slice(0, 16);
    expect((await ada.post(`/emails/${id}/move`, { sendAt: at })).status).toBe(303);
    expect((await stack.show(id)).sendAt).toBe(`${at}:00.000Z`);
    expect(await audited(id)).toMatchObject([{ action: 'email.moved', detail: { sendAt: `${at}:00.000Z` } }]);
    for (const sendAt of ['', 'soon', '2999-01-01T00:00']) {
      const from = {
        'Sec-Fetch-Site': 'same-origin',
        'Referer': `https://any.example/emails/${id}?done=moved`,
      };
      const { status, text } = await ada.post(`/emails/${id}/move`, { sendAt }, from);
      expect([status, text.includes('sendAt')]).toEqual([400, true]);
      expect(text).toContain(`<a href="/emails/${id}">Back to where you were</a>`);
    }
    expect(await audited(id)).toHaveLength(1);
  });

  it('sends one again as a new email that refers to it, without changing the first', async () => {
    const { id, to } = await sent({
      subject: 'Once more',
      replyTo: 'r@example.com',
      previewText: 'p',
      text: 'T',
      attachments: [{ filename: 'a.txt', content: 'QUJD' }],
    });
    const before = await stack.database.prisma.email.findMany({ where: { toAddress: to } });
    const { status, headers } = await again(id);
    expect(status).toBe(303);
    const copy = /^\/emails\/(trs_\w+)\?done=again$/.exec(headers.get('location')!)![1] as EmailId;
    expect(copy).not.toBe(id);
    await arrived(to, 2);
    for (const { raw } of stack.mailsTo(to))
      expect(raw.toString()).toContain('filename="a.txt"\r\n\r\nQUJD\r\n');
    const [first] = before;
    const after = await stack.database.prisma.email.findMany({ where: { toAddress: to } });
    // Compared by id, not by order: two processes created them, each by its own estimate of the time.
    const now = (one: string) => after.find((email) => email.id === uuidOf(one as EmailId));
    expect(now(id)).toEqual(first);
    expect(now(copy)).toMatchObject({
      subject: 'Once more',
      status: 'SENT',
      replyTo: [{ address: 'r@example.com' }],
    });
    const actor = { kind: 'operator', name: 'ada' };
    const detail = { copyOf: id, reason: 'she deleted it' };
    expect(await audited(copy)).toEqual([{ action: 'email.sent_again', actor, detail }]);
    for (const [shown, other] of [
      [id, copy],
      [copy, id],
    ]) {
      const { text } = await vera.get(`/emails/${shown}`);
      expect(text).toContain(`href="/emails/${other}"`);
      expect(text).toContain('she deleted it');
    }
  });

  it('creates one email, however often and fast the same form is submitted', async () => {
    const { id, to } = await sent();
    const wish = randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => again(id, 'twice', wish)));
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
    expect(await stack.count('SELECT count(*)::int FROM emails WHERE to_address = $1', [to])).toBe(2);
    expect(await stack.count(`SELECT count(*)::int FROM audit_log WHERE detail->>'copyOf' = $1`, [id])).toBe(
      1,
    );
  });

  it('sends a templated one again with the same variables', async () => {
    const template = {
      name: 'hello',
      from: 'a@example.com',
      subject: 'Hello {{name}}',
      html: '<p>{{name}}</p>',
    };
    const key = stack.tenant.keys.editor;
    expect((await stack.api().post('/v1/templates', template, { key })).status).toBe(200);
    const to = newRecipient();
    const body = { template: 'hello', to, variables: { name: 'Ada' } };
    const { id } = emailIn(await stack.api().post('/v1/emails', body));
    await stack.onlyMailTo(to);
    expect((await again(id)).status).toBe(303);
    await arrived(to, 2);
    for (const { raw } of stack.mailsTo(to)) expect(raw.toString()).toContain('Subject: Hello Ada');
  });

  it('validates an email that is sent again like any other: sender, suppressions, limit', async () => {
    const tenant = await stack.createTenant('Limited', 1);
    const to = newRecipient();
    const { id } = emailIn(await stack.send({ to }, { key: tenant.keys.apiUser }));
    await stack.onlyMailTo(to);
    const over = await again(id);
    expect([over.status, over.text.includes('monthly sending limit of 1')]).toEqual([403, true]);
    expect(await stack.count(`SELECT count(*)::int FROM audit_log WHERE detail->>'copyOf' = $1`, [id])).toBe(
      0,
    );
    const one = await sent();
    await stack.api().post('/v1/suppressions', { email: one.to }, { key: stack.tenant.keys.editor });
    const copy = /trs_\w+/.exec((await again(one.id)).headers.get('location')!)![0];
    await until(async () => (await stack.show(copy)).status === 'SUPPRESSED', 'it is withheld');
    expect(stack.mailsTo(one.to)).toHaveLength(1);
  });

  it('refuses what cannot be: one that waits, no reason, no form', async () => {
    const id = await scheduled();
    expect((await again(id)).status).toBe(409);
    const done = await sent();
    expect((await again(done.id, ' ')).status).toBe(400);
    expect((await again(done.id, 'x'.repeat(501))).status).toBe(400);
    expect((await again(done.id, 'because', 'x')).status).toBe(400);
    expect((await ada.post(`/emails/${done.id}/cancel`)).status).toBe(409);
    expect((await ada.post(`/emails/${done.id}/move`, { sendAt: fromNow(DAY_MS) })).status).toBe(409);
    for (const act of ['cancel', 'move', 'again']) {
      const fields = { reason: 'x', wish: randomUUID(), sendAt: fromNow(DAY_MS) };
      expect((await ada.post(`/emails/${newId('trs', Date.now())}/${act}`, fields)).status).toBe(404);
      expect((await ada.post(`/emails/x/${act}`, fields)).status).toBe(404);
    }
    expect(stack.mailsTo(done.to)).toHaveLength(1);
  });

  it('does not send one again whose replies would go to somebody who was erased', async () => {
    const replyTo = newRecipient();
    const { id, to } = await sent({ replyTo });
    expect((await runOperatorCommand(stack.databaseUrl, 'erase-recipient', replyTo)).code).toBe(0);
    const { status, text } = await again(id);
    expect([status, text.includes('named a person whose address was erased')]).toEqual([409, true]);
    expect(await stack.count('SELECT count(*)::int FROM emails WHERE to_address = $1', [to])).toBe(1);
  });

  it.each(['cancel', 'move', 'again'])(
    'lets only operators %s, and only from pages of the dashboard',
    async (act) => {
      const id = act === 'again' ? (await sent()).id : await scheduled();
      const { status, sendAt } = await stack.show(id);
      const fields = { reason: 'x', wish: randomUUID(), sendAt: fromNow(3 * DAY_MS) };
      const refused = await vera.post(`/emails/${id}/${act}`, fields);
      expect([refused.status, refused.text.includes('as a viewer')]).toEqual([403, true]);
      expect((await ada.post(`/emails/${id}/${act}`, fields, FROM_ELSEWHERE)).status).toBe(403);
      const stranger = await fetch(`${dashboard.url}/emails/${id}/${act}`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { 'Sec-Fetch-Site': 'same-origin' },
      });
      expect(stranger.status).toBe(401);
      expect(await stack.show(id)).toMatchObject({ status, sendAt });
      expect(await audited(id)).toEqual([]);
    },
  );

  it('logs no address, subject or reason', () => {
    expect(dashboard.program.output).not.toMatch(/receiver\.example|Once more|she deleted/);
  });
});

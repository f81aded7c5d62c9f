import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLogStore } from '@posthorn/database';
import { type DeliveryId, newId, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import { type DashboardVisitor, HOSTILE, FROM_ELSEWHERE, openDashboard } from './dashboard-visitor.ts';
import { addDelivery } from './deliveries.ts';
import { subscribe } from './receiving.ts';
import { Stack, until, takesAll } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

const stack = Stack.forTests({ receives: takesAll });
let ada: DashboardVisitor;
let vera: DashboardVisitor;
let workspaceId: WorkspaceId;
let webhook: WebhookId;
let path: string;
let hooks = 0;

beforeAll(async () => {
  ({ ada, vera } = await openDashboard(stack));
  ({ workspaceId } = stack.tenant);
});
beforeEach(async () => {
  path = `/shown-${(hooks += 1)}`;
  webhook = (await subscribe(stack, stack.receiver.url(path))).id;
});

const add = (wanted: Parameters<typeof addDelivery>[3] = {}): Promise<DeliveryId> =>
  addDelivery(stack, workspaceId, webhook, wanted);

const posted = () => stack.receiver.postsTo(path).map(({ headers }) => headers['x-service-delivery-id']);

async function audited() {
  const page = { limit: 10, sort: 'createdAt.asc' } as const;
  const { items } = await new AuditLogStore(stack.database).list(workspaceId, page, { subjectId: webhook });
  const acts = items.map(({ action, actor: { name } }) => [action, name]);
  // Each app estimates the clock of the database: almost simultaneous changes of two apps may appear in either order.
  return acts.filter(([action]) => action !== 'webhook.created');
}

describe('The webhooks of the dashboard', () => {
  it('are those of all workspaces, or of one', async () => {
    const other = await stack.createTenant('Other');
    const { id: foreign } = await subscribe(stack, stack.receiver.url('/foreign'), {
      key: other.keys.apiUser,
    });
    const all = (await vera.get('/webhooks')).text;
    for (const id of [webhook, foreign]) expect(all).toContain(`/webhooks/${id}`);
    const one = (await vera.get(`/webhooks?workspace=${other.workspaceId}`)).text;
    expect([one.includes(foreign), one.includes(webhook)]).toEqual([true, false]);
    expect((await vera.get(`/webhooks?status=PAUSED`)).text).toContain('Nothing was found');
  });

  it('name their workspace beside a suppression of it, an email and a pause, though only the 500 oldest workspaces are suggested', async () => {
    const { pool } = stack.database;
    const name = 'Newest <of all>';
    const newest = await stack.createTenant(name);
    await subscribe(stack, stack.receiver.url('/newest'), { key: newest.keys.apiUser });
    await stack.send({}, { key: newest.keys.apiUser });
    await ada.post('/suppressions', { email: 'she@example.net', workspace: newest.workspaceId });
    await ada.post('/pauses', { whose: 'workspace', workspace: newest.workspaceId, reason: 'x' });
    await pool.query(
      `INSERT INTO workspaces (id, name)
       SELECT overlay(gen_random_uuid()::text PLACING '01900000-0000-7' FROM 1)::uuid, 'Old' FROM generate_series(1, 500)`,
    );
    for (const path of ['/webhooks', '/emails', '/suppressions', '/pauses']) {
      const { text } = await ada.get(path);
      expect(text).toMatch(/<bdi[^>]*>Newest &lt;of all&gt;<\/bdi>/);
      expect(text.match(/<option value="wrk_/g)).toHaveLength(500);
      expect(text).not.toContain(`<option value="${newest.workspaceId}"`);
    }
    await pool.query("DELETE FROM workspaces WHERE name = 'Old'");
    await pool.query('DELETE FROM paused_lanes');
  });

  it('show which receivers fail and which are slow', async () => {
    const { pool } = stack.database;
    await pool.query('UPDATE webhooks SET failing_since = now() WHERE url LIKE $1', [`%${path}`]);
    await pool.query('INSERT INTO slow_lanes (lane_id) VALUES ($1)', [webhook]);
    const { text } = await vera.get('/webhooks?receiver=failing');
    expect(text.match(/href="\/webhooks\/wh_/g)).toHaveLength(1);
    expect(text).toContain('<td>slow</td>');
    expect((await vera.get(`/webhooks/${webhook}`)).text).toContain('Failing since');
  });

  it.each([
    ['a workspace that is none', '/webhooks?workspace=1', 'workspace'],
    ['a status that there is not', '/webhooks?status=LOST', 'status'],
    ['a page that is none', '/webhooks?startAt=1', 'startAt'],
    ['a status of deliveries that there is not', 'deliveries?status=LOST', 'status'],
    ['an event that there is not', 'deliveries?event=LOST', 'event'],
    ['a time that is none', 'deliveries?after=soon', 'after'],
  ])('explain what is wrong with %s', async (_what, address, field) => {
    const { status, text } = await ada.get(address.replace(/^deliveries/, `/webhooks/${webhook}`));
    expect([status, text.includes(`role="alert">\`${field}\``)]).toEqual([400, true]);
  });
});

describe('One webhook', () => {
  it('says who changed it, and leads to all changes', async () => {
    const { status } = await stack.api().post(`/v1/webhooks/${webhook}`, { status: 'PAUSED' });
    expect(status).toBe(200);
    const { text } = await vera.get(`/webhooks/${webhook}`);
    const changes = text.slice(text.indexOf('What was done to it'), text.indexOf('<h2>Deliveries'));
    expect(changes).toMatch(/webhook\.updated[^]*\(API key\)[^]*status: ACTIVE → PAUSED[^]*webhook\.created/);
    expect(changes).toContain(`href="/audit?workspace=${workspaceId}&amp;subject=${webhook}"`);
  });

  it('is shown with its deliveries, found by status, event and time, but without its token', async () => {
    const exhausted = await add();
    const old = await add({ status: 'SUCCEEDED', atMs: Date.now() - 2 * DAY_MS });
    const { text } = await vera.get(`/webhooks/${webhook}`);
    for (const shown of [path, exhausted, old, 'events are delivered']) expect(text).toContain(shown);
    expect(text).not.toMatch(/wht_/);
    expect(text).not.toContain('method="post" action="/webhooks');
    const found = async (query: string) => {
      const page = (await vera.get(`/webhooks/${webhook}?${query}`)).text;
      return [page.includes(exhausted), page.includes(old)];
    };
    expect(await found('status=EXHAUSTED')).toEqual([true, false]);
    expect(await found('event=CONTACT_DELETED')).toEqual([false, false]);
    expect(await found(`before=${fromNow(-DAY_MS).slice(0, 16)}`)).toEqual([false, true]);
  });

  it('shows a delivery with its payload and the result of each attempt, escaped', async () => {
    const id = await add();
    await stack.database.pool.query(
      `UPDATE webhook_attempts SET body = $1, reason = $1, headers = jsonb_build_object('x', $1::text)`,
      [HOSTILE],
    );
    const { status, text } = await vera.get(`/webhooks/${webhook}/deliveries/${id}`);
    expect(status).toBe(200);
    for (const shown of ['CONTACT_CREATED', 'EXHAUSTED', '500', '&quot;workspaceId&quot;', '&lt;script&gt;'])
      expect(text).toContain(shown);
    expect(text).not.toContain('<script>');
    expect(text).not.toContain('method="post" action="/webhooks');
  });

  it('is answered 404 with a page that says so where it does not exist', async () => {
    const [nowhere, nothing] = [newId('wh', Date.now()), newId('dlv', Date.now())];
    for (const id of [nowhere, 'wh_x', HOSTILE, "' OR 1=1", '%00']) {
      const { status, text } = await ada.get(`/webhooks/${encodeURIComponent(id)}`);
      expect([status, text.includes('There is no webhook with this id')]).toEqual([404, true]);
    }
    for (const id of [nothing, 'dlv_x', HOSTILE]) {
      const { status, text } = await ada.get(`/webhooks/${webhook}/deliveries/${encodeURIComponent(id)}`);
      expect([status, text.includes('This webhook has no delivery with this id')]).toEqual([404, true]);
    }
    const id = await add();
    const { id: other } = await subscribe(stack, stack.receiver.url('/other'));
    expect((await ada.get(`/webhooks/${other}/deliveries/${id}`)).status).toBe(404);
    expect((await ada.post(`/webhooks/${other}/deliveries/${id}/redeliver`)).status).toBe(404);
    expect((await ada.post(`/webhooks/${nowhere}/recover`, { since: fromNow(-DAY_MS) })).status).toBe(404);
  });
});

describe('What operators do with deliveries', () => {
  it('sends one again, and records in the audit log who did', async () => {
    const id = await add();
    const { status, headers } = await ada.post(`/webhooks/${webhook}/deliveries/${id}/redeliver`);
    const shown = `/webhooks/${webhook}/deliveries/${id}`;
    expect([status, headers.get('location')]).toEqual([303, `${shown}?done=redelivered`]);
    await until(() => posted().length === 1, 'it is posted');
    expect(posted()).toEqual([id]);
    expect(await audited()).toEqual([['webhook.redelivered', 'ada']]);
    expect((await ada.get(`${shown}?done=redelivered`)).text).toContain('It is due now.');
  });

  it('recovers deliveries that failed in a period, and shows the progress', async () => {
    const failed = [await add({ atMs: Date.now() - DAY_MS }), await add({ atMs: Date.now() - DAY_MS })];
    await add({ atMs: Date.now() - 4 * DAY_MS });
    const fields = { since: fromNow(-2 * DAY_MS).slice(0, 16), until: '' };
    const { status, headers } = await ada.post(`/webhooks/${webhook}/recover`, fields);
    expect([status, headers.get('location')]).toEqual([303, `/webhooks/${webhook}?done=recovering`]);
    await until(async () => {
      const { text } = await ada.get(`/webhooks/${webhook}`);
      return /2\s+of\s+2/.test(text) && text.includes('COMPLETED');
    }, 'it is done');
    await until(() => posted().length === 2, 'both are posted');
    expect(posted().sort()).toEqual(failed.sort());
    expect(await audited()).toEqual([['webhook.recovered', 'ada']]);
    const done = await ada.get(`/webhooks/${webhook}`);
    expect([done.text.includes('COMPLETED'), done.headers.get('refresh')]).toEqual([true, null]);
  });

  it('reloads itself after starting a recovery, but not while somebody may be filling in a form', async () => {
    stack.scheduler.program.kill('SIGSTOP');
    const fields = { since: fromNow(-2 * DAY_MS) };
    const { headers } = await ada.post(`/webhooks/${webhook}/recover`, fields);
    const pages = [await ada.get(headers.get('location')!), await ada.get(`/webhooks/${webhook}`)];
    stack.scheduler.program.kill('SIGCONT');
    expect(pages.map((page) => page.headers.get('refresh'))).toEqual([
      '3; url=?done=recovering&by-itself=1',
      null,
    ]);
    expect(pages[0]!.text).toMatch(/<input\s+id="since"[^>]*\srequired/);
  });

  it.each([
    ['no time', {}, 'since'],
    ['a time that is none', { since: 'soon' }, 'since'],
    ['a time to come', { since: fromNow(DAY_MS) }, 'since'],
    ['an end before the beginning', { since: fromNow(-DAY_MS), until: fromNow(-2 * DAY_MS) }, 'until'],
  ])('refuses to recover %s', async (_what, fields: Record<string, string>, field) => {
    const { status, text } = await ada.post(`/webhooks/${webhook}/recover`, fields);
    expect([status, text.includes(`\`${field}\``)]).toEqual([400, true]);
    expect(await audited()).toEqual([]);
  });

  it('lets only operators act, and only from pages of the dashboard', async () => {
    const id = await add();
    for (const act of [`deliveries/${id}/redeliver`, 'recover']) {
      const fields = { since: fromNow(-DAY_MS) };
      const refused = await vera.post(`/webhooks/${webhook}/${act}`, fields);
      expect([refused.status, refused.text.includes('as a viewer')]).toEqual([403, true]);
      expect((await ada.post(`/webhooks/${webhook}/${act}`, fields, FROM_ELSEWHERE)).status).toBe(403);
    }
    expect(await audited()).toEqual([]);
    expect(posted()).toEqual([]);
  });
});

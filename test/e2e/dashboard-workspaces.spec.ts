import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { runOperatorCommand } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { type DashboardVisitor, HOSTILE, nextPageIn, openDashboard } from './dashboard-visitor.ts';
import { newRecipient, Stack, until } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

const stack = Stack.forTests();
let ada: DashboardVisitor;
let vera: DashboardVisitor;

beforeAll(async () => {
  ({ ada, vera } = await openDashboard(stack));
});

const page = async (path: string): Promise<string> => (await vera.get(path)).text;
const posthorn = async (...args: string[]): Promise<void> => {
  expect(await runOperatorCommand(stack.databaseUrl, ...args)).toMatchObject({ code: 0 });
};

describe('The workspaces', () => {
  it('are listed page by page, and found by a part of the name or by the id', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `100%_of shop ${n}`);
    await stack.database.pool.query(
      'INSERT INTO workspaces (id, name) SELECT * FROM unnest($1::uuid[], $2::text[])',
      [names.map(() => crypto.randomUUID()), names],
    );
    const first = await page('/workspaces?name=%25_OF');
    expect(first.match(/href="\/workspaces\/wrk_/g)).toHaveLength(50);
    expect((await page(nextPageIn(first))).match(/href="\/workspaces\/wrk_/g)).toHaveLength(10);
    expect(await page('/workspaces?name=shop%203')).toContain('<bdi>100%_of shop 33</bdi>');
    for (const nothing of ['0_%25', '__', '%5C', 'Posthorn'])
      expect(await page(`/workspaces?name=${nothing}`)).toContain('Nothing was found');
    const { workspaceId } = stack.tenant;
    const { status, headers } = await vera.get(`/workspaces?name=${workspaceId}`);
    expect([status, headers.get('location')]).toEqual([303, `/workspaces/${workspaceId}`]);
    expect(await page('/')).toContain('<a href="/workspaces">Workspaces</a>');
    const hostile = await page(`/workspaces?name=${encodeURIComponent(HOSTILE)}`);
    expect(hostile).not.toContain('<script>');
  });

  it('have a page each, with limits and usage, senders, lanes, webhooks and pauses', async () => {
    const { workspaceId } = await stack.createTenant(`Shop ${HOSTILE}`);
    const of = ['--workspace', workspaceId];
    await posthorn('workspace', 'limit', ...of, '--monthly-limit', '1234567', '--rate', '0');
    await posthorn('workspace', 'retain', ...of, '--content-days', '3');
    await posthorn('identity', 'create', ...of, '--domain', 'unverified.example');
    await posthorn('pause', ...of, '--reason', 'Odd <links>');
    const shown = await page(`/workspaces/${workspaceId}`);
    for (const text of [
      'Shop &quot;&gt;&lt;script&gt;',
      `<dd>${workspaceId}</dd>`,
      '0 of 1,234,567, until ',
      '<dd>no limit</dd>',
      '<dd>3 d</dd>',
      '<bdi>Odd &lt;links&gt;</bdi>',
      '<bdi>unverified.example</bdi>',
      'it was not looked for yet',
      `${workspaceId}.retry`,
      `href="/retries?workspace=${workspaceId}"`,
      `href="/audit?workspace=${workspaceId}"`,
    ])
      expect(shown).toContain(text);
    expect(shown).not.toContain('<script>');
  });

  it('show what the last look-up of a domain did not find', async () => {
    const { workspaceId } = await stack.createTenant('Seeking');
    await posthorn('identity', 'create', '--workspace', workspaceId, '--domain', 'seeking.example');
    const findings = {
      'seeking.example': { state: 'FOUND', message: 'It is there', found: [] },
      '_dmarc.seeking.example': { state: 'MISSING', message: 'Publish <it>', found: [] },
    };
    await stack.database.pool.query(
      `INSERT INTO domain_checks (identity_id, checked_at, findings)
       SELECT id, now(), $1 FROM identities WHERE value = 'seeking.example'
       ON CONFLICT (identity_id) DO UPDATE SET checked_at = now(), findings = $1`,
      [findings],
    );
    const shown = await page(`/workspaces/${workspaceId}`);
    expect(shown).toContain('_dmarc.seeking.example MISSING: Publish &lt;it&gt;');
    expect(shown).not.toContain('It is there');
  });

  it('show all their senders, page by page, if they have more than their own page shows', async () => {
    const { workspaceId } = await stack.createTenant('With many senders');
    await stack.database.pool.query(
      `INSERT INTO identities (id, workspace_id, kind, value, created_at)
       SELECT gen_random_uuid(), $1, 'domain', 'many' || n || '.example', now() FROM generate_series(1, 120) n`,
      [uuidOf(workspaceId)],
    );
    const path = `/workspaces/${workspaceId}/senders`;
    expect(await page(`/workspaces/${workspaceId}`)).toContain(`href="${path}"`);
    const seen = new Set<string>();
    for (let next = path; next !== '';) {
      const text = await page(next);
      for (const [, name] of text.matchAll(/<bdi>(many\d+\.example)</g)) seen.add(name!);
      next = text.includes('rel="next"') ? nextPageIn(text) : '';
    }
    expect(seen.size).toBe(120);
  });

  it('show who can use them: keys with an abbreviated secret, and members', async () => {
    const { workspaceId, keys } = await stack.createTenant(`Used ${HOSTILE}`);
    await stack.database.pool.query(
      `WITH person AS (
         INSERT INTO users (id, email, name, created_at)
         SELECT gen_random_uuid(), 'colleague' || n || '@used.example', $2, now() FROM generate_series(1, 60) n RETURNING id)
       INSERT INTO memberships (id, workspace_id, user_id, role, created_at)
       SELECT gen_random_uuid(), $1, id, 'VIEWER', now() FROM person`,
      [uuidOf(workspaceId), HOSTILE],
    );
    const first = await page(`/workspaces/${workspaceId}/access`);
    expect(first).toContain(keys.editor.slice(-4));
    expect(first).not.toContain(keys.editor);
    expect(first).not.toContain('<script>');
    const second = await page(nextPageIn(first));
    const of = (text: string) => [...text.matchAll(/colleague\d+@used\.example/g)].map(([name]) => name);
    expect(new Set([...of(first), ...of(second)]).size).toBe(60);
  });

  it('show how many of their emails were accepted on each day, with links to them', async () => {
    const { workspaceId, keys } = await stack.createTenant('Counted');
    const { id } = emailIn(await stack.send({ to: newRecipient() }, { key: keys.apiUser }));
    const later = await stack.send({ to: newRecipient(), sendAt: fromNow(DAY_MS) }, { key: keys.apiUser });
    await stack.api().post(`/v1/emails/${emailIn(later).id}/cancel`, {}, { key: keys.apiUser });
    const shown = await page(`/workspaces/${workspaceId}/days`);
    const counts = [...shown.matchAll(/<td class="n" data-label="(\w+)"><a href="([^"]+)">(\d+)<\/a>/g)];
    expect(counts.map(([, what, , number]) => [what, number])).toEqual([
      ['Accepted', '2'],
      ['Sent', '1'],
      ['Cancelled', '1'],
    ]);
    const found = await page(counts[1]![2]!.replaceAll('&amp;', '&'));
    expect(found.match(/href="\/emails\/trs_\w+"/g)).toEqual([`href="/emails/${id}"`]);
    const earlier = await page(`/workspaces/${workspaceId}/days?until=2026-01-31`);
    expect(earlier).toContain('<td class="first">2026-01-18</td>');
    expect(earlier).toContain('href="?until=2026-01-17"');
    const faulty = await vera.get(`/workspaces/${workspaceId}/days?until=soon`);
    expect([faulty.status, faulty.text.includes('`until`')]).toEqual([400, true]);
  });

  it('are linked from their emails and pauses, except for that of Posthorn itself', async () => {
    const { workspaceId } = stack.tenant;
    const to = newRecipient();
    const { id } = emailIn(await stack.send({ to }));
    await stack.onlyMailTo(to);
    const link = `<a href="/workspaces/${workspaceId}">`;
    expect(await page(`/emails/${id}`)).toContain(link);
    expect(await page(`/emails?to=${to}`)).toContain(link);
    await ada.post('/pauses', { whose: 'workspace', workspace: workspaceId, reason: 'x' });
    expect(await page('/pauses')).toContain(link);
    await ada.post('/pauses/resume', { whose: 'workspace', workspace: workspaceId });
    for (const nobody of [SYSTEM_WORKSPACE_ID, newId('wrk', 0), 'wrk_1'])
      for (const detail of ['', '/senders', '/access', '/days'])
        expect((await vera.get(`/workspaces/${nobody}${detail}`)).status).toBe(404);
  });
});

describe('Emails that failed', () => {
  it('are found by why their last attempt did', async () => {
    const [full, gone] = [newRecipient(), newRecipient()];
    const ids = [];
    for (const to of [full, gone]) ids.push(emailIn(await stack.send({ to })).id);
    await stack.settled();
    await stack.database.pool.query(
      `WITH changed AS (UPDATE emails SET status = 'FAILED' WHERE to_address = ANY ($1) RETURNING id, to_address)
       INSERT INTO email_events (email_id, kind, at, detail)
       SELECT id, 'FAILED', now(), jsonb_build_object('class', CASE to_address WHEN $2 THEN 'content' ELSE 'policy' END) FROM changed`,
      [[full, gone], full],
    );
    for (const where of ['', `&workspace=${stack.tenant.workspaceId}`, `&status=FAILED`, `&to=${full}`]) {
      const found = await page(`/emails?class=content${where}`);
      expect(ids.map((id) => found.includes(id))).toEqual([true, false]);
    }
    const { status, text } = await vera.get('/emails?class=x');
    expect([status, text.includes('`class` is none of unknown_user')]).toEqual([400, true]);
  });

  it('do not fill the page with a long subject, which is shown below', async () => {
    const subject = 'Long '.repeat(190).trim();
    const to = newRecipient();
    const { id } = emailIn(await stack.send({ to, subject }));
    await until(async () => (await stack.outboxRow(id)) === undefined, 'it is sent');
    const shown = await page(`/emails/${id}`);
    expect(shown).toContain(`<h1><bdi class="cut">${subject}</bdi></h1>`);
    expect(shown).toContain(`<dt>Subject</dt>`);
  });
});

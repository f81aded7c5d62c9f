import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseId } from '@posthorn/kernel';
import { emailIn } from './api.ts';
import { type DashboardVisitor, HOSTILE, nextPageIn, openDashboard } from './dashboard-visitor.ts';
import { newRecipient, Stack } from './stack.ts';

const stack = Stack.forTests({ sends: false });
let ada: DashboardVisitor;
let vera: DashboardVisitor;

beforeAll(async () => {
  ({ ada, vera } = await openDashboard(stack));
});

const search = async (fields: Record<string, string>) =>
  (await vera.get(`/audit?${new URLSearchParams(fields).toString()}`)).text;

/** The rows of a page's table, each as the texts of its cells. */
function rowsOf(page: string): string[][] {
  const rows = page.split('<tr>').slice(2);
  return rows.map((row) =>
    [...row.matchAll(/<td[^>]*>([^]*?)<\/td>/g)].map(([, cell]) => cell!.replace(/<[^>]*>/g, '').trim()),
  );
}

const inADay = () => new Date(Date.now() + 86_400_000).toISOString();

describe('The audit log in the dashboard', () => {
  it('shows who changed the installation and how, newest first', async () => {
    await ada.post('/pauses', { whose: 'webhooks', reason: HOSTILE.slice(0, 40) });
    await ada.post('/pauses/resume', { whose: 'webhooks' });
    const page = await search({});
    expect(page).not.toContain('<script>');
    const [resumed, paused, ...before] = rowsOf(page);
    expect(resumed!.slice(1, 3)).toEqual(['sending.resumed', 'ada (operator)']);
    expect(paused!.slice(1, 3)).toEqual(['sending.paused', 'ada (operator)']);
    expect(paused![4]).toContain(
      'queues: [&quot;event&quot;,&quot;webhook&quot;]; reason: &quot;&gt;&lt;script',
    );
    expect(before.map(([, action]) => action)).toContain('operator.signed_in');
  });

  it('shows who changed what in a workspace, with links to it', async () => {
    const { workspaceId, keys } = stack.tenant;
    const email = emailIn(await stack.send({ to: newRecipient(), sendAt: inADay() }));
    await ada.post(`/emails/${email.id}/cancel`);
    const { body } = await stack
      .apiAs(keys.editor)
      .post('/v1/webhooks', { url: 'https://example.com/webhooks', events: ['EMAIL_SENT'] });
    const { id: webhook } = body['webhook'] as { id: string };
    const page = await search({ workspace: workspaceId });
    const rows = rowsOf(page);
    // Each app estimates the clock of the database: almost simultaneous changes of two apps may appear in either order.
    const newest = rows.slice(0, 2).map((row) => row.slice(1, 4));
    expect(newest).toContainEqual(['webhook.created', expect.stringMatching(/\(API key\)$/), webhook]);
    expect(newest).toContainEqual(['email.cancelled', 'ada (operator)', email.id]);
    for (const link of [`/emails/${email.id}`, `/webhooks/${webhook}`])
      expect(page).toContain(`href="${link}"`);
    expect(await search({})).not.toContain(email.id);
    const only = rowsOf(await search({ workspace: workspaceId, action: 'email.cancelled' }));
    expect(only.map(([, action]) => action)).toEqual(['email.cancelled']);
    expect(rowsOf(await search({ workspace: workspaceId, subject: webhook }))).toHaveLength(1);
    expect(await search({ workspace: workspaceId, after: inADay().slice(0, 16) })).toContain(
      'Nothing was found',
    );
  });

  it('shows each change once, page by page', async () => {
    const tenant = await stack.createTenant('Busy');
    const api = stack.apiAs(tenant.keys.editor);
    for (let n = 0; n < 52; n += 1)
      await api.post('/v1/suppressions', { email: newRecipient(), reason: 'MANUAL' });
    const fields = { workspace: tenant.workspaceId, action: 'suppression.created' };
    const first = await search(fields);
    const second = (await vera.get(nextPageIn(first))).text;
    const subjects = [first, second].flatMap(rowsOf).map(([, , , subject]) => subject!);
    expect([rowsOf(first).length, subjects.length, new Set(subjects).size]).toEqual([50, 52, 52]);
    expect(subjects.every((subject) => parseId('sup', subject) !== undefined)).toBe(true);
  });

  it.each([
    ['workspace', 'wrk_1'],
    ['action', 'email.burnt'],
    ['after', 'yesterday'],
    ['startAt', 'x'],
    ['workspace', HOSTILE],
  ])('explains above its form what is wrong with %s: %s', async (name, value) => {
    const { status, text } = await ada.get(`/audit?${new URLSearchParams({ [name]: value }).toString()}`);
    expect([status, text.includes(`role="alert">\`${name}\``)]).toEqual([400, true]);
    expect(text).not.toContain('<script>');
  });
});

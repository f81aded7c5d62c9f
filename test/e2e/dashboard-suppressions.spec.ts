import { beforeAll, describe, expect, it } from '@jest/globals';
import { AuditLogStore } from '@posthorn/database';
import { newId } from '@posthorn/kernel';
import type { SinkScript } from '@posthorn/testing';
import { emailIn } from './api.ts';
import {
  type DashboardVisitor,
  HOSTILE,
  FROM_ELSEWHERE,
  nextPageIn,
  openDashboard,
} from './dashboard-visitor.ts';
import { newRecipient, Stack, until } from './stack.ts';

/** A relay that refuses addresses with this prefix as unknown, for as long as the test says. */
let knowsThem = false;
const relay: SinkScript = (stage, { to }) =>
  stage === 'rcpt' && !knowsThem && to.at(-1)?.startsWith('nobody-')
    ? { reply: '550 5.1.1 No such user here' }
    : undefined;

const stack = Stack.forTests({ sink: { script: relay } });
let ada: DashboardVisitor;
let vera: DashboardVisitor;

beforeAll(async () => {
  ({ ada, vera } = await openDashboard(stack));
});

async function suppress(email: string, key = stack.tenant.keys.apiUser): Promise<string> {
  const { body } = await stack.apiAs(key).post('/v1/suppressions', { email });
  return (body['suppression'] as { id: string }).id;
}

async function sendAndWait(to: string): Promise<string> {
  const { id } = emailIn(await stack.send({ to }));
  await until(async () => (await stack.outboxRow(id)) === undefined, `${id} is finished`);
  return id;
}

const escaped = (text: string) => text.replace(/"/g, '&quot;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const search = async (query: string) => (await vera.get(`/suppressions?${query}`)).text;

describe('The search for suppressions', () => {
  it('finds an address in any letter case, in all workspaces or in a selected one', async () => {
    const other = await stack.createTenant('Other');
    const email = newRecipient();
    await suppress(email);
    await suppress(email.toUpperCase().replace(/@.*/, `@${email.split('@')[1]}`), other.keys.apiUser);
    await suppress(newRecipient());
    const rows = (text: string) => text.match(/<tr>/g)!.length - 1;
    const query = `email=${encodeURIComponent(email)}`;
    expect(rows(await search(query))).toBe(2);
    expect(rows(await search(''))).toBe(3);
    const one = await search(`${query}&workspace=${other.workspaceId}`);
    expect([rows(one), one.includes('<bdi>Other</bdi>')]).toEqual([1, true]);
    expect(await search(`email=${newRecipient()}`)).toContain('Nothing was found');
  });

  it('shows each entry once, page by page', async () => {
    const tenant = await stack.createTenant('Long');
    for (let n = 0; n < 53; n += 1) await suppress(`${n}-${newRecipient()}`, tenant.keys.apiUser);
    for (const query of ['', `workspace=${tenant.workspaceId}`]) {
      const addressesIn = (text: string) =>
        [...text.matchAll(/<a href="\/emails\?to=([^"]+)"/g)].map(([, to]) => to);
      const first = await search(query);
      const seen = [...addressesIn(first), ...addressesIn((await vera.get(nextPageIn(first))).text)];
      expect(addressesIn(first)).toHaveLength(50);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.length).toBeGreaterThanOrEqual(53);
    }
  });

  it.each([
    ['an address that is none', 'email=ada', 'email'],
    ['what would be markup', `email=${encodeURIComponent(HOSTILE)}`, 'email'],
    ['a workspace that is none', 'workspace=1', 'workspace'],
    ['a page that is none', 'startAt=x', 'startAt'],
  ])('explains what is wrong with %s', async (_what, query, field) => {
    const { status, text } = await ada.get(`/suppressions?${query}`);
    expect([status, text.includes(`role="alert">\`${field}\``)]).toEqual([400, true]);
    expect(text).not.toContain('<script>');
  });
});

describe('Suppressing an address by hand', () => {
  const put = (fields: Record<string, string>, as = ada) => as.post('/suppressions', fields);

  it('is possible for one workspace from the page of an email, with a reason, and is audited', async () => {
    const to = newRecipient();
    const workspace = stack.tenant.workspaceId;
    const email = await sendAndWait(to);
    const link = /href="(\/suppressions\?[^"]+)">Have nothing more/.exec(
      (await ada.get(`/emails/${email}`)).text,
    )!;
    const path = link[1]!.replaceAll('&amp;', '&');
    const form = (await ada.get(path)).text;
    for (const part of [/<details class="card" open>/, /id="new-email"[^>]*required/, `value="${workspace}"`])
      expect(form).toMatch(part);
    expect((await vera.get(path)).text).not.toContain('<details');
    const { status, headers } = await put({ email: to, workspace, reason: 'COMPLAINT' });
    expect(status).toBe(303);
    const shown = (await ada.get(headers.get('location')!)).text;
    expect(shown).toContain('It was added to the list');
    expect(shown).toMatch(/COMPLAINT: the recipient reported an email as unwanted \(ada\)/);
    expect((await ada.get(`/emails/${email}`)).text).not.toContain('Have nothing more');
    const id = /\/suppressions\/(sup_\w+)\/remove/.exec(shown)![1]!;
    const page = { limit: 10, sort: 'createdAt.asc' } as const;
    const { items } = await new AuditLogStore(stack.database).list(workspace, page, { subjectId: id });
    expect(items).toMatchObject([
      {
        action: 'suppression.created',
        actor: { kind: 'operator', name: 'ada' },
        detail: { reason: 'COMPLAINT' },
      },
    ]);
    const next = await sendAndWait(to);
    expect((await stack.show(next)).status).toBe('SUPPRESSED');
    const again = await put({ email: to.toUpperCase(), workspace, reason: 'MANUAL' });
    expect((await ada.get(again.headers.get('location')!)).text).toContain('already on the list');
    expect(await search(`email=${to}`)).toContain('COMPLAINT');
  });

  it('is refused for viewers, forms of other sites and invalid input', async () => {
    const fields = { email: newRecipient(), workspace: stack.tenant.workspaceId, reason: 'MANUAL' };
    expect((await put(fields, vera)).status).toBe(403);
    expect((await ada.post('/suppressions', fields, FROM_ELSEWHERE)).status).toBe(403);
    for (const [change, status, sentence] of [
      [{ email: '' }, 400, '`email` is missing'],
      [{ email: 'ada' }, 400, '`email`'],
      [{ email: HOSTILE }, 400, '`email`'],
      [{ workspace: '' }, 400, '`workspace` is missing'],
      [{ workspace: 'wrk_1' }, 400, '`workspace` is not an id'],
      [{ workspace: newId('wrk', Date.now()) }, 404, 'There is no workspace with this id'],
      [{ reason: 'WHIM' }, 400, '`reason` is none of'],
    ] as const) {
      const answer = await put({ ...fields, ...change });
      expect([answer.status, answer.text.includes(sentence)]).toEqual([status, true]);
      expect(answer.text).not.toContain('<script>');
      const { email, workspace } = { ...fields, ...change };
      const form = /<details class="card" open>[^]*?<\/form>/.exec(answer.text)![0];
      for (const part of ['role="alert"', `value="${escaped(email)}"`, `value="${workspace}"`])
        expect(form).toContain(part);
    }
    expect((await put({ ...fields, email: '', reason: 'COMPLAINT' })).text).toMatch(
      /<option value="COMPLAINT" selected>/,
    );
    expect(await search(`email=${fields.email}`)).toContain('Nothing was found');
  });
});

describe('Removing many addresses from a list', () => {
  it('returns to the current search, with buttons that name their address', async () => {
    const email = newRecipient();
    await suppress(email);
    const query = new URLSearchParams({ email, workspace: stack.tenant.workspaceId, startAt: '' }).toString();
    const { text } = await ada.get(`/suppressions?${query}`);
    const [form, path] = /<form method="post" action="(\/suppressions\/[^"]+)">[^]*?<\/form>/.exec(text)!;
    expect(form).toContain(`aria-label="Remove: ${email}"`);
    const fields = Object.fromEntries(
      [...form.matchAll(/name="(\w+)"\s+value="([^"]+)"/g)].map(([, name, value]) => [name!, value!]),
    );
    const { headers } = await ada.post(path!, fields);
    expect(headers.get('location')).toBe(
      `/suppressions?${new URLSearchParams({ email, workspace: stack.tenant.workspaceId, done: 'removed' }).toString()}`,
    );
  });
});

describe('An address that has bounced', () => {
  it('is shown with its email, can be removed by an operator, and is sent to again', async () => {
    const to = `nobody-${newRecipient()}`;
    const bounced = await sendAndWait(to);
    const suppressed = await sendAndWait(to);
    knowsThem = true;
    const page = (await vera.get(`/emails/${suppressed}`)).text;
    const link = /href="(\/suppressions\?[^"]+)"/.exec(page)![1]!;
    expect(page).toContain('HARD_BOUNCE');
    const looked = (await vera.get(link)).text;
    expect(looked).toContain(`/emails/${bounced}`);
    expect(looked).not.toContain('/remove"');
    expect((await ada.get(`/emails/${suppressed}`)).text).toContain('It would not be sent: the recipient is');
    const entry = /action="(\/suppressions\/sup_\w+\/remove)"/.exec((await ada.get(link)).text)![1]!;
    const { status, headers } = await ada.post(entry);
    expect([status, headers.get('location')]).toEqual([303, '/suppressions?done=removed']);
    expect((await ada.get('/suppressions?done=removed')).text).toContain('removed from the list');
    const { text } = await ada.get(`/emails/${suppressed}`);
    for (const words of ['HARD_BOUNCE', 'It would not be sent']) expect(text).not.toContain(words);
    await sendAndWait(to);
    await stack.onlyMailTo(to);
  });

  it('cannot be removed by viewers or forms of other sites; one that was removed already is reported as such', async () => {
    const id = await suppress(newRecipient());
    const act = `/suppressions/${id}/remove`;
    expect([(await vera.post(act)).status, (await ada.post(act, {}, FROM_ELSEWHERE)).status]).toEqual([
      403, 403,
    ]);
    expect((await ada.post(act)).status).toBe(303);
    for (const gone of [id, newId('sup', Date.now())]) {
      const { status, headers } = await ada.post(`/suppressions/${gone}/remove`);
      expect([status, headers.get('location')]).toEqual([303, '/suppressions?done=gone']);
    }
    expect((await ada.get('/suppressions?done=gone')).text).toContain('no longer on the list');
    for (const gone of ['sup_x', encodeURIComponent(HOSTILE)])
      expect((await ada.post(`/suppressions/${gone}/remove`)).status).toBe(404);
    const page = { limit: 10, sort: 'createdAt.asc' } as const;
    const { items } = await new AuditLogStore(stack.database).list(stack.tenant.workspaceId, page, {
      subjectId: id,
    });
    // By their names, not by their times: each app estimates the clock of the database.
    expect(items.map(({ action, actor: { name } }) => [action, name]).sort()).toEqual([
      ['suppression.created', 'API_USER'],
      ['suppression.deleted', 'ada'],
    ]);
  });
});

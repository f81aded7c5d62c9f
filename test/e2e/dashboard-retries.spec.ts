import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLogStore } from '@posthorn/database';
import { type EmailId, newId, SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import type { SinkScript } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { type DashboardVisitor, FROM_ELSEWHERE, HOSTILE, openDashboard } from './dashboard-visitor.ts';
import { newRecipient, Stack, until } from './stack.ts';

let isRelayFull: boolean;
const relay: SinkScript = (stage) =>
  isRelayFull && stage === 'rcpt' ? { reply: '452 4.3.1 Insufficient system storage' } : undefined;

const stack = Stack.forTests({ sink: { script: relay } });
let ada: DashboardVisitor;
let vera: DashboardVisitor;

beforeAll(async () => {
  ({ ada, vera } = await openDashboard(stack));
});
beforeEach(() => {
  isRelayFull = true;
});

/** Sends an email, which the relay defers. */
async function deferred(): Promise<{ id: EmailId; to: string }> {
  const to = newRecipient();
  const id = emailIn(await stack.send({ to })).id as EmailId;
  await until(async () => (await stack.outboxRow(id))?.state === 'waiting', 'the email waits for its retry');
  return { id, to };
}

const hasten = (fields: Record<string, string>, as = ada) => as.post('/retries', fields);

/** The message after submitting a form. */
async function toldTo({ status, headers }: { status: number; headers: Headers }): Promise<string> {
  expect(status).toBe(303);
  const { text } = await ada.get(headers.get('location')!);
  return /<p class="done" role="status">([^<]*)/.exec(text)![1]!;
}

describe('Retries that wait', () => {
  it('are sent at once when the relay is back, and an operator hastens those of a workspace', async () => {
    const { id, to } = await deferred();
    expect((await vera.get('/')).text).toContain('<a href="/retries">1</a>');
    const workspace = stack.tenant.workspaceId;
    const fields = { whose: 'workspace', workspace, domain: '', class: '' };
    expect(await toldTo(await hasten({ ...fields, class: 'rate_limited' }))).toBe(
      'None waited for a later time.',
    );
    isRelayFull = false;
    expect(await toldTo(await hasten({ ...fields, domain: to.split('@')[1]!, class: 'soft_bounce' }))).toBe(
      '1 are due now.',
    );
    await stack.onlyMailTo(to);
    await until(async () => (await stack.outboxRow(id)) === undefined, 'the email is recorded as sent');
    const page = { limit: 10, sort: 'createdAt.asc' } as const;
    const filter = { action: 'workspace.retries_hastened' } as const;
    const { items } = await new AuditLogStore(stack.database).list(workspace, page, filter);
    const detail = { domain: to.split('@')[1], class: 'soft_bounce' };
    expect(items).toMatchObject([
      { actor: { kind: 'operator', name: 'ada' }, detail: { ...detail, begun: true } },
      { actor: { kind: 'operator', name: 'ada' }, detail: { ...detail, hastened: 1 } },
    ]);
  });

  it('can be those of all workspaces, or deliveries to webhooks', async () => {
    const { to } = await deferred();
    expect(await toldTo(await hasten({ whose: 'webhooks' }))).toBe('None waited for a later time.');
    isRelayFull = false;
    expect(await toldTo(await hasten({ whose: 'emails' }))).toBe('1 are due now.');
    await stack.onlyMailTo(to);
    const page = { limit: 10, sort: 'createdAt.asc' } as const;
    const filter = { action: 'sending.retries_hastened' } as const;
    const { items } = await new AuditLogStore(stack.database).list(SYSTEM_WORKSPACE_ID, page, filter);
    expect(items).toMatchObject([{ detail: { queue: 'emails', begun: true } }, { detail: { hastened: 1 } }]);
  });

  it('are continued for the same ones, whatever is in the form meanwhile', async () => {
    const position = '00000000-0000-0000-0000-000000000001';
    const counts = 'hastened=1&paused=0&alreadyDue=0&inProgress=0';
    const { text } = await ada.get(`/retries?whose=emails&domain=a.example&${counts}&startAt=${position}`);
    expect(text).toContain('There is more to be searched: continue below.');
    const [hastening, continuing] = [...text.matchAll(/<form[^>]*action="\/retries".*?<\/form>/gs)].map(
      String,
    );
    expect(hastening).not.toContain('startAt');
    for (const hidden of [
      'name="whose" value="emails"',
      'name="domain" value="a.example"',
      `value="${position}"`,
    ])
      expect(continuing).toContain(
        `<input type="hidden" ${hidden.startsWith('name') ? '' : 'name="startAt" '}${hidden}`,
      );
  });

  it('can be a single one, from the page of its email, unless it is due already', async () => {
    const { id, to } = await deferred();
    expect((await ada.get(`/emails/${id}`)).text).toContain(`action="/emails/${id}/hasten"`);
    expect((await vera.get(`/emails/${id}`)).text).not.toContain('/hasten"');
    isRelayFull = false;
    expect(await toldTo(await ada.post(`/emails/${id}/hasten`))).toContain('It is due now');
    await stack.onlyMailTo(to);
    await until(async () => (await stack.outboxRow(id)) === undefined, 'the email is recorded as sent');
    expect(await toldTo(await ada.post(`/emails/${id}/hasten`))).toContain('It was due already');
    const { text } = await ada.get(`/emails/${id}`);
    expect(text).not.toContain(`action="/emails/${id}/hasten"`);
    expect(text.match(/hastened it/g)).toHaveLength(1);
  });

  it('are not hastened by viewers, by forms of other sites, or by an invalid form, which keeps its input', async () => {
    const { id } = await deferred();
    const { due_at: dueAt } = (await stack.outboxRow(id))!;
    expect((await hasten({ whose: 'emails' }, vera)).status).toBe(403);
    expect((await vera.post(`/emails/${id}/hasten`)).status).toBe(403);
    expect((await ada.post('/retries', { whose: 'emails' }, FROM_ELSEWHERE)).status).toBe(403);
    expect((await ada.post(`/emails/${newId('trs', 0)}/hasten`)).status).toBe(404);
    for (const [fields, status, sentence] of [
      [{ whose: '' }, 400, '`whose` is missing'],
      [
        { whose: 'workspace', workspace: newId('wrk', Date.now()) },
        404,
        'There is no workspace with this id',
      ],
      [{ whose: 'emails', domain: HOSTILE }, 400, '`domain` has the domain'],
      [{ whose: 'emails', class: HOSTILE }, 400, '`class` must be one of'],
      [{ whose: 'webhooks', domain: 'example.com' }, 400, '`domain` is known of emails only'],
      [{ whose: 'emails', startAt: 'x' }, 400, '`startAt` is malformed'],
    ] as const) {
      const { status: answered, text } = await hasten(fields);
      expect([answered, text.includes(sentence)]).toEqual([status, true]);
      expect(text).not.toContain('<script>');
    }
    const { text } = await hasten({ whose: 'webhooks', domain: 'example.com' });
    expect(text).toMatch(/<option value="webhooks" selected>/);
    expect(text).toMatch(/id="domain"[^>]*value="example.com"/);
    expect((await vera.get('/retries')).text).not.toContain('action="/retries"');
    expect((await stack.outboxRow(id))!.due_at).toEqual(dueAt);
  });
});

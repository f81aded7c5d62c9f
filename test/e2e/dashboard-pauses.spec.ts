import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type AuditEntry, AuditLogStore, EraStore } from '@posthorn/database';
import { bulkLane, nowLane, operator, pausableLanes } from '@posthorn/domain';
import { newId, SYSTEM_WORKSPACE_ID, type WorkspaceId } from '@posthorn/kernel';
import { emailIn } from './api.ts';
import { type DashboardVisitor, FROM_ELSEWHERE, HOSTILE, openDashboard } from './dashboard-visitor.ts';
import { newRecipient, Stack, until } from './stack.ts';

const stack = Stack.forTests();
let ada: DashboardVisitor;
let vera: DashboardVisitor;

beforeAll(async () => {
  ({ ada, vera } = await openDashboard(stack));
});
afterEach(() => stack.database.pool.query('DELETE FROM paused_lanes'));

const pause = (fields: Record<string, string>, as = ada) => as.post('/pauses', fields);
const resume = (fields: Record<string, string>, as = ada) => as.post('/pauses/resume', fields);

/** The message after submitting a form. */
async function toldTo({ status, headers }: { status: number; headers: Headers }): Promise<string> {
  expect(status).toBe(303);
  return (await ada.get(headers.get('location')!)).text;
}

async function pausedLanes(): Promise<unknown[]> {
  const { rows } = await stack.database.pool.query<{ queue: string; lane_id: string; reason: string }>(
    'SELECT queue, lane_id, reason FROM paused_lanes ORDER BY queue, lane_id',
  );
  return rows.map(({ queue, lane_id, reason }) => [queue, lane_id, reason]);
}

async function lastChanges(workspaceId: WorkspaceId, actions: readonly string[]): Promise<AuditEntry[]> {
  const page = { limit: 20, sort: 'createdAt.desc' } as const;
  const { items } = await new AuditLogStore(stack.database).list(workspaceId, page, {});
  return items.filter(({ action }) => actions.includes(action));
}

describe('What operators pause', () => {
  it('can be the emails of one workspace, which wait with a reason until they are resumed', async () => {
    const workspace = stack.tenant.workspaceId;
    const fields = { whose: 'workspace', workspace, reason: 'Odd <links>' };
    expect(await toldTo(await pause(fields))).toContain('It is paused');
    expect(await pausedLanes()).toEqual(
      [bulkLane(workspace), nowLane(workspace)].sort().map((lane) => ['email', lane, 'Odd <links>']),
    );
    expect(await toldTo(await pause({ ...fields, reason: 'Another' }))).toContain('keeps its first reason');
    const to = newRecipient();
    const { id } = emailIn(await stack.send({ to }));
    expect((await vera.get(`/emails/${id}`)).text).toContain('<a href="/pauses">“Odd &lt;links&gt;”</a>');
    const shown = (await ada.get('/pauses')).text;
    expect(shown.match(/<button aria-label="Resume: /g)).toHaveLength(1);
    expect(shown).toContain('<bdi>Odd &lt;links&gt;</bdi>');
    expect(await toldTo(await resume(fields))).toContain('It was resumed');
    await until(async () => (await stack.outboxRow(id)) === undefined, 'the email has left');
    await stack.onlyMailTo(to);
    expect(await toldTo(await resume(fields))).toContain('It is no longer paused');
    const actor = { kind: 'operator', name: 'ada' };
    expect(await lastChanges(workspace, ['workspace.paused', 'workspace.resumed'])).toMatchObject([
      { action: 'workspace.resumed', actor },
      { action: 'workspace.paused', actor, detail: { reason: 'Odd <links>' } },
    ]);
  });

  it.each([
    ['emails', [['email', '*', 'An incident']]],
    [
      'webhooks',
      [
        ['event', '*', 'An incident'],
        ['webhook', '*', 'An incident'],
      ],
    ],
  ])('can be whole queues: %s', async (whose, lanes) => {
    expect(await toldTo(await pause({ whose, workspace: '', reason: 'An incident' }))).toContain('is paused');
    expect(await pausedLanes()).toEqual(lanes);
    expect((await vera.get('/')).text).toContain('An incident');
    expect(await toldTo(await resume({ whose }))).toContain('It was resumed');
    expect(await pausedLanes()).toEqual([]);
    const actor = { kind: 'operator', name: 'ada' };
    const changes = await lastChanges(SYSTEM_WORKSPACE_ID, ['sending.paused', 'sending.resumed']);
    expect(changes.slice(0, 2)).toMatchObject([
      { action: 'sending.resumed', actor },
      { action: 'sending.paused', actor, detail: { reason: 'An incident' } },
    ]);
  });

  it('are shown page by page, whole queues on the first one, from which resuming leads back', async () => {
    const paused = Array.from({ length: 120 }, () => newId('wrk', Date.now()));
    await stack.database.pool.query(
      `INSERT INTO paused_lanes (queue, lane_id, reason) SELECT 'email', lane, 'Many' FROM unnest($1::text[]) AS lane`,
      [paused.flatMap((id) => pausableLanes(id))],
    );
    await pause({ whose: 'emails', reason: 'Everything else' });
    const shown: string[] = [];
    const pages: string[] = [];
    for (let path: string | undefined = '/pauses'; path !== undefined;) {
      const { text } = await ada.get(path);
      pages.push(text);
      shown.push(...[...text.matchAll(/name="workspace" value="(wrk_\w+)"/g)].map(([, id]) => id!));
      path = /href="(\/pauses\?startAt=\w+)" rel="next"/.exec(text)?.[1];
    }
    expect(shown).toEqual(paused.toSorted().reverse());
    expect(pages.map((text) => text.includes('Everything else'))).toEqual([true, false, false]);
    const startAt = /name="startAt" value="(\w+)"/.exec(pages[1]!)![1]!;
    const answer = await resume({ whose: 'workspace', workspace: stack.tenant.workspaceId, startAt });
    expect(answer.headers.get('location')).toContain(`startAt=${startAt}`);
    const { status, text } = await ada.get('/pauses?startAt=x');
    expect([status, text.includes('`startAt` is malformed')]).toEqual([400, true]);
  });

  it('still includes a workspace that is resumed while everything is paused', async () => {
    const fields = { whose: 'workspace', workspace: stack.tenant.workspaceId, reason: 'x' };
    await pause(fields);
    await pause({ whose: 'emails', reason: 'y' });
    expect(await toldTo(await resume(fields))).toContain('all workspaces are still paused');
  });

  it('is not changed by viewers, who see it without forms, nor by forms of other sites', async () => {
    const fields = { whose: 'emails', reason: 'x' };
    expect((await pause(fields, vera)).status).toBe(403);
    expect((await ada.post('/pauses', fields, FROM_ELSEWHERE)).status).toBe(403);
    expect(await pausedLanes()).toEqual([]);
    await pause(fields);
    expect((await resume(fields, vera)).status).toBe(403);
    expect((await ada.post('/pauses/resume', fields, FROM_ELSEWHERE)).status).toBe(403);
    expect(await pausedLanes()).toHaveLength(1);
    const { text } = await vera.get('/pauses');
    expect(text).toContain('The emails of all workspaces');
    expect(text).not.toContain('action="/pauses');
  });

  it('is not changed by an invalid form, which keeps its input', async () => {
    const fields = { whose: 'workspace', workspace: stack.tenant.workspaceId, reason: 'x' };
    for (const [change, status, sentence] of [
      [{ whose: '' }, 400, '`whose` is missing'],
      [{ whose: 'all' }, 400, '`whose` is none of'],
      [{ whose: 'emails' }, 400, '`workspace` is given, but not one is meant'],
      [{ workspace: '' }, 400, '`workspace` is missing'],
      [{ workspace: 'wrk_1' }, 400, '`workspace` is not an id'],
      [{ workspace: newId('wrk', Date.now()) }, 404, 'There is no workspace with this id'],
      [{ reason: ' ' }, 400, '`reason` has 0 characters'],
      [{ reason: 'x'.repeat(501) }, 400, '`reason` has 501 characters'],
      [{ reason: '\u202e' }, 400, '`reason`'],
      [{ workspace: HOSTILE }, 400, '`workspace` is not an id'],
    ] as const) {
      const { status: answered, text } = await pause({ ...fields, ...change });
      expect([answered, text.includes(sentence)]).toEqual([status, true]);
      expect(text).toContain('role="alert"');
      expect(text).not.toContain('<script>');
    }
    const { text } = await pause({ ...fields, whose: 'webhooks', reason: 'Kept' });
    expect(text).toMatch(/<option value="webhooks" selected>/);
    expect(text).toMatch(/id="reason"[^>]*value="Kept"/);
    expect(await pausedLanes()).toEqual([]);
  });

  it('can only be resumed at the command line where the database was restored', async () => {
    const eras = new EraStore(stack.database);
    await eras.beginByHand(operator('ada'));
    try {
      expect((await ada.get('/pauses')).text).toMatch(/role="alert">\s*The database was restored/);
      for (const whose of ['emails', 'webhooks']) {
        const { status, text } = await resume({ whose });
        expect([status, text.includes('posthorn resume')]).toEqual([409, true]);
      }
      expect(await pausedLanes()).not.toEqual([]);
    } finally {
      await eras.release(operator('ada'), {}, new Date());
    }
    expect((await ada.get('/pauses')).text).not.toContain('role="alert"');
  });
});

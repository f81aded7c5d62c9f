import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '@posthorn/domain';
import { type Answer, partIn } from './api.ts';
import { Stack, type Tenant } from './stack.ts';

interface ShownEntry {
  readonly id: string;
  readonly action: string;
  readonly subjectId: string;
  readonly createdAt: string;
  readonly [field: string]: unknown;
}

const stack = Stack.forTests({ sends: false });

function list(of: Tenant, query = ''): Promise<Answer> {
  return stack.api().get(`/v1/audit-log${query}`, { key: of.keys.editor });
}

async function pageOf(of: Tenant, query = ''): Promise<Page<ShownEntry>> {
  const answer = await list(of, query);
  const page = partIn<Page<ShownEntry>>(answer, 'auditLog');
  expect(Object.keys(answer.body)).toEqual(['auditLog']);
  return page;
}

/** Calls the API with the tenant's editor key. @returns a field of the answer */
async function call(
  of: Tenant,
  name: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly id: string }> {
  const text = body && JSON.stringify(body);
  return partIn(await stack.api().request(method, path, text, { key: of.keys.editor }), name);
}

/** A workspace that has created these keys, one after the other. */
async function tenantWithKeys(...names: string[]): Promise<[Tenant, string[]]> {
  const tenant = await stack.createTenant('Audited');
  const path = `/v1/workspaces/${tenant.workspaceId}/api-keys`;
  const ids: string[] = [];
  for (const displayName of names) ids.push((await call(tenant, 'apiKey', 'POST', path, { displayName })).id);
  return [tenant, ids];
}

describe('GET /v1/audit-log: 200', () => {
  it('K3, G8, G9: shows who changed what, newest first, and no secrets', async () => {
    const [tenant, [id]] = await tenantWithKeys('Shop');
    const path = `/v1/workspaces/${tenant.workspaceId}/api-keys/${id}`;
    await call(tenant, 'apiKey', 'POST', path, { role: 'VIEWER' });
    await call(tenant, 'apiKey', 'DELETE', path);
    const page = await pageOf(tenant);
    expect(page).toMatchObject({ hasMore: false, startAt: null });
    const [editor] = page.items.filter(({ detail }) => (detail as { role?: string }).role === 'EDITOR');
    const entry = {
      id: expect.stringMatching(/^aud_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      actor: { kind: 'api_key', id: editor!.subjectId, name: 'EDITOR' },
      subjectId: id,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    };
    expect(page.items.slice(0, 3)).toEqual([
      { ...entry, action: 'api_key.deleted', detail: { displayName: 'Shop', role: 'VIEWER' } },
      { ...entry, action: 'api_key.updated', detail: { role: 'VIEWER' } },
      { ...entry, action: 'api_key.created', detail: { displayName: 'Shop', role: 'API_USER' } },
    ]);
    expect(editor).toMatchObject({ actor: { kind: 'operator', name: 'tests' } });
    expect(JSON.stringify(page)).not.toContain('phk_');
  });

  it('G10: accepts filters, which apply to all pages', async () => {
    const [tenant, [first, second]] = await tenantWithKeys('First', 'Second');
    await call(tenant, 'apiKey', 'DELETE', `/v1/workspaces/${tenant.workspaceId}/api-keys/${second}`);
    const of = async (query: string): Promise<string[]> =>
      (await pageOf(tenant, query)).items.map(({ action, subjectId }) => `${action} ${subjectId}`);
    expect(await of(`?subjectId=${second}`)).toEqual([
      `api_key.deleted ${second}`,
      `api_key.created ${second}`,
    ]);
    expect(await of(`?action=api_key.created&limit=2`)).toEqual([
      `api_key.created ${second}`,
      `api_key.created ${first}`,
    ]);
    expect(await of(`?action=api_key.deleted&subjectId=${first}`)).toEqual([]);
    expect(await of('?subjectId=aki_01h455vb4pex5vsknk084sn02q')).toEqual([]);
  });

  it('G10: accepts times: from the first (inclusive) to the second (exclusive)', async () => {
    const [tenant] = await tenantWithKeys('First');
    const path = `/v1/workspaces/${tenant.workspaceId}/api-keys`;
    const name = ({ detail }: ShownEntry): unknown => (detail as { displayName: string }).displayName;
    for (const displayName of ['Second', 'Third']) {
      await sleep(2);
      await call(tenant, 'apiKey', 'POST', path, { displayName });
    }
    const [third, second] = (await pageOf(tenant)).items;
    const [from, to] = [second!.createdAt, third!.createdAt];
    expect((await pageOf(tenant, `?createdAfter=${from}`)).items.map(name)).toEqual(['Third', 'Second']);
    expect((await pageOf(tenant, `?createdAfter=${from}&createdBefore=${to}`)).items.map(name)).toEqual([
      'Second',
    ]);
    for (const sort of ['createdAt.asc', 'createdAt.desc']) {
      const query = `?createdAfter=${from}&createdBefore=9999-12-31&action=api_key.created&limit=1&sort=${sort}`;
      const first = await pageOf(tenant, query);
      const second = await pageOf(tenant, `${query}&startAt=${first.startAt}`);
      expect([...first.items, ...second.items].map(name).sort()).toEqual(['Second', 'Third']);
      expect(second.hasMore).toBe(false);
    }
    expect((await pageOf(tenant, '?createdBefore=1960-01-01')).items).toEqual([]);
  });

  it('G3: shows nothing of another workspace', async () => {
    const [, [foreign]] = await tenantWithKeys('Foreign');
    const [tenant] = await tenantWithKeys();
    expect((await pageOf(tenant, `?subjectId=${foreign}`)).items).toEqual([]);
    const shown = (await pageOf(tenant)).items.map(({ subjectId }) => subjectId);
    expect(shown.length).toBeGreaterThan(2);
    expect(shown).not.toContain(foreign);
  });
});

describe('GET /v1/audit-log: 400', () => {
  it.each([
    ['startAt=2030-01-01T00:00:00.000Z', '`startAt` is malformed'],
    ['startAt=aud_01h455vb4pex5vsknk084sn02q', '`startAt` is malformed'],
    ['limit=101', '`limit` is 101'],
    ['action=api_key.made', '`action` is not one of the known values'],
    ['subjectId=1', '`subjectId` is not an id'],
    ['subjectId=%00', '`subjectId`'],
    ['createdAfter=yesterday', '`createdAfter` is not a time'],
    ['createdAfter=2030-01-02&createdBefore=2030-01-01', '`createdBefore` is not later than `createdAfter`'],
    ['subject=aki_01h455vb4pex5vsknk084sn02q', 'did you mean `subjectId`?'],
  ])('G10, G4: ?%s', async (query, message) => {
    const answer = await list(stack.tenant, `?${query}`);
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
  });
});

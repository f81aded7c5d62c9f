import { beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiKeyId, uuidOf } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import { hashSecret } from '@posthorn/signing';
import { type Answer, partIn, type RequestOptions, statusesOf } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { Stack, type Tenant, until } from './stack.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface ShownKey {
  readonly id: string;
  readonly displayName: string;
  readonly role: string;
  readonly status: string;
  readonly secretKey: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastUsedAt: string | null;
}

const stack = Stack.forTests({ gateways: 2, sends: false });
let tenant: Tenant;
beforeAll(() => {
  tenant = stack.tenant;
});

const pathIn = (workspaceId: string): string => `/v1/workspaces/${workspaceId}/api-keys`;
const asEditor = (of = tenant): RequestOptions => ({ key: of.keys.editor });
const check = (key: string, gateway = 0): Promise<Answer> =>
  stack.api(gateway).get('/v1/api-keys/check', { key });

function create(body: object, of = tenant): Promise<Answer> {
  return stack.api().post(pathIn(of.workspaceId), body, asEditor(of));
}

function update(id: string, body: object, of = tenant): Promise<Answer> {
  return stack.api().post(`${pathIn(of.workspaceId)}/${id}`, body, asEditor(of));
}

function remove(id: string): Promise<Answer> {
  return stack.api().request('DELETE', `${pathIn(tenant.workspaceId)}/${id}`, undefined, asEditor());
}

async function created(body: object = { displayName: 'Web shop' }, of = tenant): Promise<ShownKey> {
  return keyIn(await create(body, of));
}

function keyIn(answer: Answer): ShownKey {
  return partIn(answer, 'apiKey');
}

async function pageOf(of: Tenant, query = ''): Promise<Page<ShownKey>> {
  return partIn(await stack.api().get(pathIn(of.workspaceId) + query, asEditor(of)), 'apiKeys');
}

function abbreviated({ secretKey, ...key }: ShownKey): ShownKey {
  return { ...key, secretKey: `${secretKey.slice(0, 8)}...${secretKey.slice(-4)}` };
}

describe('GET /v1/api-keys/check: 200', () => {
  it.each([
    ['editor', 'EDITOR'],
    ['apiUser', 'API_USER'],
    ['viewer', 'VIEWER'],
  ] as const)('K6, E3: says whose key it is, of any role: %s', async (name, role) => {
    const answer = await check(tenant.keys[name]);
    expect([answer.status, answer.body]).toEqual([200, { status: 'SUCCEED', displayName: role, role }]);
  });
});

describe('GET /v1/api-keys/check: 401', () => {
  it('K6, A2: an unknown key', async () => {
    const { id, secretKey } = await created();
    await remove(id);
    const answer = await check(secretKey);
    expect([answer.status, answer.body]).toEqual([
      401,
      {
        statusCode: 401,
        error: 'Unauthorized',
        message: 'The API key is not valid; it may have been deleted',
      },
    ]);
  });
});

describe('POST /v1/workspaces/{workspace_id}/api-keys: 200', () => {
  it('K1, K4, E5, F6, G1, G8, G9: creates a key, with its whole secret', async () => {
    const answer = await create({ displayName: '  Web shop ' });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['apiKey']);
    const key = keyIn(answer);
    expect(key).toEqual({
      id: expect.stringMatching(/^aki_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      displayName: 'Web shop',
      role: 'API_USER',
      status: 'ACTIVE',
      secretKey: expect.stringMatching(/^phk_[0-9A-Za-z]{38}$/),
      createdAt: TIME,
      updatedAt: key.createdAt,
      lastUsedAt: null,
    });
    expect((await check(key.secretKey, 1)).body).toMatchObject({ displayName: 'Web shop', role: 'API_USER' });
  });

  it.each(['VIEWER', 'API_USER', 'EDITOR'])('K2, K4: of the role %s', async (role) => {
    const { secretKey } = await created({ displayName: role, role });
    expect((await check(secretKey)).body).toMatchObject({ role });
  });

  it('K4, G11: with a name of 100 characters, however many bytes they take', async () => {
    const displayName = '😀'.repeat(100);
    expect(await created({ displayName })).toMatchObject({ displayName });
  });

  it('K1, A5: keeps nothing of the secret but its hash', async () => {
    const { id, secretKey } = await created();
    const { rows } = await stack.database.pool.query<{ row: string; hash: Buffer }>(
      'SELECT k::text AS row, secret_hash AS hash FROM api_keys k WHERE id = $1',
      [uuidOf(id as ApiKeyId)],
    );
    expect(rows[0]!.hash).toEqual(hashSecret(secretKey));
    expect(rows[0]!.row).not.toContain(secretKey.slice(9, 38));
    expect(stack.logs).not.toContain(secretKey.slice(9, 38));
  });
});

describe('GET /v1/workspaces/{workspace_id}/api-keys: 200', () => {
  it('E4, F6, A5: lists the keys, the newest first, their secrets abbreviated', async () => {
    const other = await stack.createTenant('Lists');
    const key = await created({ displayName: 'Newest' }, other);
    const page = await pageOf(other);
    expect(page).toMatchObject({ hasMore: false, startAt: null });
    expect(page.items.map(({ displayName }) => displayName)).toEqual([
      'Newest',
      'VIEWER',
      'API_USER',
      'EDITOR',
    ]);
    expect(page.items[0]).toEqual(abbreviated(key));
  });

  it('G10: shows at most `limit` keys, 50 by default', async () => {
    const { items, hasMore } = await pageOf(tenant, '?limit=1');
    expect([items.length, hasMore]).toEqual([1, true]);
  });
});

describe('POST /v1/workspaces/{workspace_id}/api-keys/{api_key_id}: 200', () => {
  it('E6, F6: changes the given fields, keeps the others, and updates `updatedAt`', async () => {
    const key = await created({ displayName: 'Before', role: 'VIEWER' });
    const renamed = await update(key.id, { displayName: ' After ' });
    expect(Object.keys(renamed.body)).toEqual(['apiKey']);
    expect(keyIn(renamed)).toEqual({ ...abbreviated(key), displayName: 'After', updatedAt: TIME });
    expect(Date.parse(keyIn(renamed).updatedAt)).toBeGreaterThan(Date.parse(key.updatedAt));
    const promoted = keyIn(await update(key.id, { role: 'API_USER' }));
    expect(promoted).toMatchObject({ displayName: 'After', role: 'API_USER', createdAt: key.createdAt });
    expect(Date.parse(promoted.updatedAt)).toBeGreaterThan(Date.parse(keyIn(renamed).updatedAt));
  });

  it('K2: a changed role takes effect at once, on every gateway', async () => {
    const key = await created({ displayName: 'Demoted', role: 'EDITOR' });
    keyIn(await update(key.id, { role: 'VIEWER' }));
    const answers = await Promise.all(
      [0, 1].map((gateway) => stack.api(gateway).post('/v1/emails', {}, { key: key.secretKey })),
    );
    expect(statusesOf(answers)).toEqual([401, 401]);
  });

  it('E6: a body without fields changes nothing', async () => {
    const key = await created();
    expect(keyIn(await update(key.id, {}))).toEqual(abbreviated(key));
  });
});

describe('DELETE /v1/workspaces/{workspace_id}/api-keys/{api_key_id}: 200', () => {
  it('K5, E7: shows the key once more, archived', async () => {
    const key = await created();
    const answer = await remove(key.id);
    expect([answer.status, answer.body]).toEqual([
      200,
      { apiKey: { ...abbreviated(key), status: 'ARCHIVED', updatedAt: TIME }, isDeleted: true },
    ]);
    expect((await pageOf(tenant, '?limit=100')).items.map(({ id }) => id)).not.toContain(key.id);
  });

  it('K5: no request that begins after the answer is accepted, on any gateway, whatever is in flight', async () => {
    const { id, secretKey } = await created();
    const seen: { readonly begunAt: number; readonly status: number }[] = [];
    let isOver = false;
    const knock = async (gateway: number): Promise<void> => {
      while (!isOver) {
        const begunAt = performance.now();
        seen.push({ begunAt, status: (await check(secretKey, gateway)).status });
      }
    };
    const knocking = Array.from({ length: 16 }, (_, n) => knock(n % 2));
    await until(() => seen.length > 50, 'the key lets in');
    expect((await remove(id)).status).toBe(200);
    const answeredAt = performance.now();
    const after = (): number[] =>
      seen.filter(({ begunAt }) => begunAt > answeredAt).map(({ status }) => status);
    await until(() => after().length > 50, 'the key is tried again');
    isOver = true;
    await Promise.all(knocking);
    expect(seen.filter(({ status }) => status === 200).length).toBeGreaterThan(50);
    expect(after()).not.toContain(200);
    expect(after()).toContain(401);
  });

  it('K5: a key may delete itself', async () => {
    const { id, secretKey } = await created({ displayName: 'Last act', role: 'EDITOR' });
    const path = `${pathIn(tenant.workspaceId)}/${id}`;
    expect((await stack.api().request('DELETE', path, undefined, { key: secretKey })).status).toBe(200);
    expect((await check(secretKey)).status).toBe(401);
  });

  it('K5: one of two concurrent deletions of a key is answered as for an unknown key', async () => {
    const { id } = await created();
    expect(statusesOf(await Promise.all([remove(id), remove(id)])).sort()).toEqual([200, 404]);
  });
});

describe('/v1/workspaces/{workspace_id}/api-keys: 403', () => {
  it.each(['VIEWER', 'API_USER'])('K3, G3: the role %s changes no key', async (role) => {
    const key = await created({ displayName: 'Powerless', role });
    const refused = await stack
      .api()
      .post(`${pathIn(tenant.workspaceId)}/${key.id}`, { role: 'EDITOR' }, { key: key.secretKey });
    expectRefusal(refused, 403, 'may not manage this workspace; use a key with the role `EDITOR`');
    expect((await check(key.secretKey)).body).toMatchObject({ role });
  });

  it('X5, G3: an editor changes no key of another workspace, at the path of either', async () => {
    const key = await created();
    const other = await stack.createTenant('Elsewhere');
    expectRefusal(await update(key.id, { role: 'EDITOR' }, other), 404, 'There is no API key with this id');
    const path = `${pathIn(tenant.workspaceId)}/${key.id}`;
    const foreign = await stack.api().post(path, { role: 'EDITOR' }, asEditor(other));
    expectRefusal(foreign, 403, `use the id of its own workspace, \`${other.workspaceId}\``);
    expect((await check(key.secretKey)).body).toMatchObject({ role: 'API_USER' });
  });
});

describe('`lastUsedAt`', () => {
  it('F6: is written independently of requests, at the latest when a gateway stops', async () => {
    const gateway = await stack.startApp('gateway');
    const key = await created();
    const before = Date.now();
    const answer = await fetch(`${gateway.url}/v1/api-keys/check`, {
      headers: { Authorization: `Bearer ${key.secretKey}` },
    });
    expect(answer.status).toBe(200);
    expect((await pageOf(tenant, '?limit=1')).items[0]).toMatchObject({ id: key.id, lastUsedAt: null });
    expect((await gateway.program.stop()).code).toBe(0);
    const { lastUsedAt, updatedAt } = (await pageOf(tenant, '?limit=1')).items[0]!;
    expect(Math.abs(Date.parse(lastUsedAt!) - before)).toBeLessThan(60_000);
    expect(updatedAt).toBe(key.updatedAt);
  });
});

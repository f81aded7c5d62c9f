import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ApiKeyId, uuidOf } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import { hashSecret } from '@posthorn/signing';
import { type Answer, partIn, type RequestOptions, statusesOf } from './api.ts';
import { Stack, type Tenant, until } from './stack.ts';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const UNKNOWN_KEY = 'aki_01h455vb4pex5vsknk084sn02q';
const UNKNOWN_WORKSPACE = 'wrk_01h455vb4pex5vsknk084sn02q';

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

let stack: Stack;
let tenant: Tenant;
beforeAll(async () => {
  stack = await Stack.start({ gateways: 2, sends: false, env: { RATE_LIMIT_PER_SECOND: '0' } });
  tenant = stack.tenant;
});
afterAll(() => stack.close());

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

function remove(id: string, of = tenant): Promise<Answer> {
  return stack.api().request('DELETE', `${pathIn(of.workspaceId)}/${id}`, undefined, asEditor(of));
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

describe('POST /v1/workspaces/{workspace_id}/api-keys: 400', () => {
  it.each<[string, unknown, string]>([
    ['no name', {}, '`displayName` is missing'],
    ['an empty name', { displayName: '' }, '`displayName` is empty'],
    ['a name of spaces', { displayName: ' \u3000 ' }, '`displayName` is empty'],
    [
      'a name of 101 characters',
      { displayName: 'x'.repeat(101) },
      '`displayName` has 101 characters, 1 more than',
    ],
    ['a number for a name', { displayName: 7 }, '`displayName` is a number'],
    [
      'a name that cannot be seen',
      { displayName: 'a\u202eb' },
      '`displayName` holds a character that cannot be seen',
    ],
    ['a NUL in the name', { displayName: 'a\0b' }, '`displayName` has the character U+0000'],
    ['an unknown role', { displayName: 'x', role: 'ADMIN' }, '`role` is not one of the known values'],
    ['a role in small letters', { displayName: 'x', role: 'editor' }, 'perhaps `EDITOR`'],
    ['no role', { displayName: 'x', role: null }, '`role` is null'],
    [
      'a role that objects have',
      { displayName: 'x', role: 'constructor' },
      '`role` is not one of the known values',
    ],
    [
      'a secret of the caller’s',
      { displayName: 'x', secretKey: 'phk_x' },
      '`secretKey` is not a known field',
    ],
    ['an array', [], 'The body must be a JSON object'],
  ])('K4, G3, G4: %s', async (_case, body, message) => {
    const before = (await pageOf(tenant, '?limit=100')).items.length;
    const answer = await create(body as object);
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
    expect((await pageOf(tenant, '?limit=100')).items).toHaveLength(before);
  });
});

describe('POST /v1/workspaces/{workspace_id}/api-keys: 409', () => {
  it('G11: more than a hundred keys, also in concurrent calls on both gateways', async () => {
    const full = await stack.createTenant('Full');
    for (let n = 3; n < 95; n += 1) await created({ displayName: `Key ${n}` }, full);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        stack.api(n % 2).post(pathIn(full.workspaceId), { displayName: `At once ${n}` }, asEditor(full)),
      ),
    );
    expect(statusesOf(answers).sort()).toEqual([
      ...Array<number>(5).fill(200),
      ...Array<number>(7).fill(409),
    ]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body).toEqual({
      statusCode: 409,
      error: 'Conflict',
      message: 'The workspace has 100 keys, which is as many as it may; delete one first',
    });
    const { items } = await pageOf(full, '?limit=100');
    expect(items).toHaveLength(100);
    await remove(items[0]!.id, full);
    expect((await create({ displayName: 'Room again' }, full)).status).toBe(200);
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

  it.each(['createdAt.desc', 'createdAt.asc'])(
    'G10: walking the pages by %s shows every key once, and keys of one millisecond together',
    async (sort) => {
      const other = await stack.createTenant('Pages');
      for (let n = 0; n < 6; n += 1) await created({ displayName: `Key ${n}` }, other);
      await stack.database.pool.query(
        `UPDATE api_keys SET created_at = date_trunc('hour', now()) WHERE display_name IN ('Key 1', 'Key 2', 'Key 3')`,
      );
      const pages: Page<ShownKey>[] = [];
      let query = `?limit=2&sort=${sort}`;
      for (;;) {
        const page = await pageOf(other, query);
        pages.push(page);
        expect(page.hasMore).toBe(page.startAt !== null);
        if (page.startAt === null) break;
        query = `?limit=2&sort=${sort}&startAt=${encodeURIComponent(page.startAt)}`;
      }
      const shown = pages.flatMap(({ items }) => items);
      const times = shown.map(({ createdAt }) => createdAt);
      expect(new Set(shown.map(({ id }) => id)).size).toBe(9);
      expect(times).toEqual(sort === 'createdAt.asc' ? [...times].sort() : [...times].sort().reverse());
      expect(pages.every((page, n) => page.startAt === (pages[n + 1]?.items[0]!.createdAt ?? null))).toBe(
        true,
      );
      const together = pages.filter(({ items }) =>
        items.some(({ displayName }) => /^Key [123]$/.test(displayName)),
      );
      expect(together).toHaveLength(1);
    },
  );

  it('G10: shows at most `limit` keys, 50 by default', async () => {
    const { items, hasMore } = await pageOf(tenant, '?limit=1');
    expect([items.length, hasMore]).toEqual([1, true]);
  });
});

describe('GET /v1/workspaces/{workspace_id}/api-keys: 400', () => {
  it.each([
    ['limit=0', '`limit` is 0; give a whole number from 1 to 100'],
    ['limit=101', '`limit` is 101'],
    ['limit=ten', '`limit` is not a whole number'],
    ['sort=name', '`sort` is not one of the known values'],
    ['startAt=yesterday', '`startAt` is malformed'],
    ['startAt=2030-02-30T00:00:00Z', '`startAt` is malformed'],
    ['page=2', '`page` is not a known field'],
    ['limit=1&limit=2', '`limit` is given more than once'],
  ])('G10: ?%s', async (query, message) => {
    const answer = await stack.api().get(`${pathIn(tenant.workspaceId)}?${query}`, asEditor());
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
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

describe('POST /v1/workspaces/{workspace_id}/api-keys/{api_key_id}: 400', () => {
  it.each<[object, string]>([
    [{ displayName: '' }, '`displayName` is empty'],
    [{ displayName: null }, '`displayName` is null'],
    [{ role: 'OWNER' }, '`role` is not one of the known values'],
    [{ secretKey: 'phk_x' }, '`secretKey` is not a known field'],
    [{ status: 'ARCHIVED' }, '`status` is not a known field'],
  ])('E6, G4: %j', async (body, message) => {
    const key = await created();
    const answer = await update(key.id, body);
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
    expect((await pageOf(tenant, '?limit=1')).items[0]).toEqual(abbreviated(key));
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

describe('/v1/workspaces/{workspace_id}/api-keys: 401', () => {
  it('A2: no key', async () => {
    const answer = await stack.api().get(pathIn(tenant.workspaceId), { key: null });
    expect(answer.status).toBe(401);
  });
});

describe('/v1/workspaces/{workspace_id}/api-keys: 403', () => {
  const CALLS: [string, string, string, object | undefined][] = [
    ['listing', 'GET', '', undefined],
    ['creating', 'POST', '', { displayName: 'x' }],
    ['creating with a body that is wrong', 'POST', '', {}],
    ['changing', 'POST', `/${UNKNOWN_KEY}`, { displayName: 'x' }],
    ['deleting', 'DELETE', `/${UNKNOWN_KEY}`, undefined],
  ];
  const call = (method: string, path: string, body: object | undefined, key: string): Promise<Answer> =>
    stack.api().request(method, path, body && JSON.stringify(body), { key });

  it.each(CALLS)('K3, X5, A4, G5: %s with another role than EDITOR', async (_what, method, path, body) => {
    for (const key of [tenant.keys.apiUser, tenant.keys.viewer]) {
      const answer = await call(method, pathIn(tenant.workspaceId) + path, body, key);
      expect([answer.status, answer.body]).toEqual([
        403,
        {
          statusCode: 403,
          error: 'Forbidden',
          message: 'The API key may not manage this workspace; use a key with the role `EDITOR`',
        },
      ]);
    }
  });

  it.each(CALLS)(
    'G3, X5, G5: %s in another workspace, one that is nobody’s or none',
    async (_what, method, path, body) => {
      const other = await stack.createTenant('Other');
      const named = [
        other.workspaceId,
        UNKNOWN_WORKSPACE,
        tenant.workspaceId.toUpperCase(),
        'wrk_1',
        '1',
        '%00',
      ];
      const answers = await Promise.all(
        named.map((id) => call(method, pathIn(id) + path, body, tenant.keys.editor)),
      );
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers[0]!.body).toEqual({
        statusCode: 403,
        error: 'Forbidden',
        message: `The API key is not of the workspace in the path; use the id of its own workspace, \`${tenant.workspaceId}\``,
      });
    },
  );

  it('K3: none of these calls has changed anything', async () => {
    const key = await created();
    await call('POST', `${pathIn(tenant.workspaceId)}/${key.id}`, { role: 'EDITOR' }, key.secretKey);
    await call('DELETE', `${pathIn(tenant.workspaceId)}/${key.id}`, undefined, tenant.keys.viewer);
    expect((await check(key.secretKey)).body).toMatchObject({ role: 'API_USER' });
  });
});

describe('/v1/workspaces/{workspace_id}/api-keys/{api_key_id}: 404', () => {
  it('K5, G3: a deleted key, one of another workspace, an unknown one and a malformed id are answered alike', async () => {
    const other = await stack.createTenant('Elsewhere');
    const [gone, foreign] = [await created(), await created({ displayName: 'Foreign' }, other)];
    await remove(gone.id);
    const ids = [gone.id, foreign.id, UNKNOWN_KEY, 'aki_1', UNKNOWN_WORKSPACE, '%00'];
    const answers = await Promise.all(ids.flatMap((id) => [update(id, { displayName: 'x' }), remove(id)]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]!.body).toEqual({
      statusCode: 404,
      error: 'Not Found',
      message: 'There is no API key with this id in this workspace',
    });
    expect((await check(foreign.secretKey)).body).toMatchObject({ displayName: 'Foreign' });
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

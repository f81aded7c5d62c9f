import { beforeAll, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import { Api, type Answer, partIn, statusesOf } from './api.ts';
import { Stack, type Tenant } from './stack.ts';
import { createTemplate, type ShownTemplate, validTemplate, templateIn } from './templates.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const stack = Stack.forTests({ sends: false, gateways: 2 });
let tenant: Tenant;
let api: Api;
beforeAll(() => {
  tenant = stack.tenant;
  api = stack.apiAs(tenant.keys.editor);
});

const create = (change: Record<string, unknown> = {}) => createTemplate(api, change);
const update = (id: string, body: unknown): Promise<Answer> => api.post(`/v1/templates/${id}`, body);
const remove = (id: string): Promise<Answer> => api.request('DELETE', `/v1/templates/${id}`, undefined);
const read = (id: string): Promise<Answer> => api.get(`/v1/templates/${id}`);
const auditOf = async (id: string): Promise<{ action: string }[]> => {
  const sql = 'SELECT action, actor, detail FROM audit_log WHERE subject_id = $1 ORDER BY id';
  return (await stack.database.pool.query<{ action: string }>(sql, [id])).rows;
};

describe('POST /v1/templates', () => {
  describe('200', () => {
    it('S3: a template is stored unchanged, and shows the variables that its emails must give', async () => {
      const given = validTemplate({
        subject: 'Order {{orderId}}',
        html: '<p>{{name}} {{user.city}} {{#if vip}}!{{/if}}</p>',
        text: '{{total}}',
        previewText: 'For {{name}}',
        replyTo: ['help@example.com', 'Ada <ada@example.com>'],
        fromName: 'The Shop',
        defaults: { name: 'friend', deep: { é: [1, null] } },
        unsubscribe: true,
      });
      const created = templateIn(await api.post('/v1/templates', given));
      expect(created).toEqual({
        ...given,
        id: expect.stringMatching(/^tpl_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
        version: 1,
        from: 'shop@example.com',
        requiredVariables: ['orderId', 'user.city', 'total'],
        createdAt: expect.stringMatching(TIME),
        updatedAt: expect.stringMatching(TIME),
      });
      expect(templateIn(await read(created.id))).toEqual(created);
      expect(await auditOf(created.id)).toEqual([
        {
          action: 'template.created',
          actor: expect.objectContaining({ kind: 'api_key', name: 'EDITOR' }),
          detail: { name: given.name },
        },
      ]);
    });

    it('E18: a template that was read can be posted without its read-only fields, as a copy or as an update without a change', async () => {
      const globex = await stack.createTenant('Globex');
      for (const change of [
        {},
        { fromName: 'The Shop', text: 'Hi', previewText: 'Peek', replyTo: ['help@example.com'] },
      ]) {
        const shown = await create(change);
        const { id, version, requiredVariables, createdAt, updatedAt, ...said } = shown;
        const copy = await createTemplate(api, said, globex.keys.editor);
        expect(copy).toMatchObject({ ...said, version: 1, requiredVariables });
        expect([copy.id, version]).not.toContain(id);
        expect(templateIn(await update(id, said))).toEqual({ ...shown, createdAt, updatedAt });
      }
    });

    it('optional fields are null, empty or taken from `from`', async () => {
      const template = await create({ from: '"Shop, The" <shop@example.com>', text: '', previewText: '' });
      expect(template).toMatchObject({
        fromName: 'Shop, The',
        text: null,
        previewText: null,
        replyTo: [],
        defaults: {},
        unsubscribe: false,
      });
    });

    it('S6: an unverified sender is checked only when an email is sent', async () => {
      const template = await create({ from: 'later@elsewhere.example', html: 'x', subject: 'x' });
      const answer = await stack
        .api()
        .post('/v1/emails', { template: template.name, to: 'ada@receiver.example' });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        allowedDomains: ['example.com'],
        message: expect.stringContaining('later@elsewhere.example'),
      });
    });

    it('G11: values exactly at the limits are accepted', async () => {
      const template = await create({
        name: 'n'.repeat(255),
        subject: 's'.repeat(998),
        previewText: 'p'.repeat(1_000),
        html: 'é'.repeat(2_621_440),
        defaults: { a: 'x'.repeat(262_144 - 8) },
      });
      expect(template.html).toHaveLength(2_621_440);
    });
  });

  describe('400', () => {
    it.each([
      [{ name: undefined }, '`name` is missing'],
      [{ name: '' }, '`name` is empty'],
      [{ name: 'n'.repeat(256) }, '`name` has 256 characters, 1 more than'],
      [{ subject: 's'.repeat(999) }, '`subject` has 999 characters, 1 more than'],
      [{ subject: 'a\nb' }, '`subject` holds a line break'],
      [{ html: '' }, '`html` is empty'],
      [{ html: 'x'.repeat(5_242_881) }, '`html` has 5,242,881 bytes, 1 more than'],
      [{ text: 'x'.repeat(5_242_881) }, '`text` has 5,242,881 bytes'],
      [{ previewText: 'p'.repeat(1_001) }, '`previewText` has 1,001 characters'],
      [{ from: 'nobody' }, '`from` has no `@`'],
      [{ from: undefined }, '`from` is missing'],
      [{ replyTo: 'nobody' }, '`replyTo` has no `@`'],
      [{ from: '{{sender}}' }, '`from` has a tag'],
      [{ from: '{{shop}} <shop@example.com>' }, '`from` has a tag'],
      [{ fromName: 'The {{shop}}' }, '`fromName` has a tag'],
      [{ replyTo: ['help@example.com', '{{agent}}@example.com'] }, '`replyTo` has a tag'],
      [{ defaults: [1] }, '`defaults` is an array; give an object'],
      [
        { defaults: [] },
        '`defaults` is an empty array; give an object, `{}` if it is empty, or leave it out',
      ],
      [{ defaults: { a: 'x'.repeat(262_144) } }, '`defaults` has 262,152 bytes'],
      [{ hmtl: 'x' }, 'did you mean `html`?'],
      [{ html: null }, '`html` is null'],
    ])('G3, G11: %.60j', async (change, message) => {
      const answer = await api.post('/v1/templates', validTemplate(change));
      expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
    });

    it.each([
      [
        { html: 'a\n{{#each items}}' },
        '`html`, line 2, column 1: the block `{{#each}}` is never closed; close it with `{{/each}}`',
      ],
      [{ html: '{{> header}}' }, '`html`, line 1, column 1: partials'],
      [{ subject: '{{shout name}}' }, '`subject`, line 1, column 1: there is no helper `shout`'],
      [{ text: '{{#if a}}{{/each}}' }, '`text`, line 1'],
      [{ previewText: '{{' }, '`previewText`, line 1'],
      [{ html: '{{a}}'.repeat(2_001) }, 'has 2001 tags'],
    ])(
      'S3: a template that does not compile is refused, with where and why: %.60j',
      async (change, message) => {
        const answer = await api.post('/v1/templates', validTemplate(change));
        expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
      },
    );
  });

  describe('409', () => {
    it('the name of another existing template, also in concurrent calls on two gateways', async () => {
      const { name } = await create();
      const answer = await api.post('/v1/templates', validTemplate({ name }));
      expect([answer.status, answer.body['message']]).toEqual([409, expect.stringContaining(`"${name}"`)]);
      const twin = validTemplate();
      const other = new Api(stack.gateways[1]!.url, tenant.keys.editor);
      const both = await Promise.all([api, other].map((one) => one.post('/v1/templates', twin)));
      expect(statusesOf(both).sort()).toEqual([200, 409]);
    });

    it('such a name in the words of an outage of the database', async () => {
      const { name } = await create({ name: 'Connection terminated' });
      const answer = await api.post('/v1/templates', validTemplate({ name }));
      expect([answer.status, answer.body['message']]).toEqual([409, expect.stringContaining(`"${name}"`)]);
    });

    it('G11: a workspace has at most 1,000', async () => {
      const full = await stack.createTenant('Full');
      const key = full.keys.editor;
      await createTemplate(api, {}, key);
      await stack.database.pool.query(
        `WITH n AS (SELECT gen_random_uuid() AS template, gen_random_uuid() AS version, n FROM generate_series(2, 999) n),
              t AS (INSERT INTO templates (id, workspace_id, name, current_version_id)
                    SELECT template, $1::uuid, 'n' || n, version FROM n)
         INSERT INTO template_versions (id, template_id, number, from_address, subject, html, required)
         SELECT version, template, 1, 'a@example.com', 'x', 'x', '{}' FROM n`,
        [uuidOf(full.workspaceId)],
      );
      const last = await Promise.all([1, 2].map(() => api.post('/v1/templates', validTemplate(), { key })));
      expect(statusesOf(last).sort()).toEqual([200, 409]);
    });
  });
});

describe('GET /v1/templates', () => {
  const list = async (query: string, key: string): Promise<Page<ShownTemplate>> => {
    return partIn(await api.get(`/v1/templates${query}`, { key }), 'templates');
  };

  it('a name finds the template that emails use by it, and none of another workspace', async () => {
    const { keys } = await stack.createTenant('Searcher');
    const wanted = await createTemplate(api, { name: 'Söker & co' }, keys.editor);
    await createTemplate(api, {}, keys.editor);
    const named = `?name=${encodeURIComponent(wanted.name)}`;
    const items = [expect.objectContaining({ id: wanted.id, name: wanted.name })];
    expect(await list(named, keys.viewer)).toEqual({ items, hasMore: false, startAt: null });
    expect(await list(named, tenant.keys.viewer)).toEqual({ items: [], hasMore: false, startAt: null });
  });
});

describe('POST /v1/templates/{template_id}', () => {
  describe('200', () => {
    it('S3: given fields change, in a new version; the others do not', async () => {
      const created = await create({
        text: 'Hi {{firstName}}',
        previewText: 'Peek',
        replyTo: 'help@example.com',
      });
      const updated = templateIn(
        await update(created.id, { html: '<p>{{lastName}}</p>', text: '', replyTo: null }),
      );
      expect(updated).toEqual({
        ...created,
        version: 2,
        html: '<p>{{lastName}}</p>',
        text: null,
        replyTo: [],
        requiredVariables: ['firstName', 'lastName'],
        updatedAt: expect.stringMatching(TIME),
      });
      expect(updated.updatedAt > created.updatedAt).toBe(true);
      expect(templateIn(await read(created.id))).toEqual(updated);
      expect(await auditOf(created.id)).toHaveLength(2);
    });

    it.each([
      [{ from: 'new@example.com' }, { from: 'new@example.com', fromName: 'Shop' }],
      [{ from: 'New <new@example.com>' }, { from: 'new@example.com', fromName: 'New' }],
      [{ fromName: 'Other' }, { from: 'shop@example.com', fromName: 'Other' }],
      [{ fromName: null }, { from: 'shop@example.com', fromName: null }],
      [{ unsubscribe: true }, { unsubscribe: true }],
      [{ defaults: { firstName: 'friend' } }, { defaults: { firstName: 'friend' }, requiredVariables: [] }],
    ])('%j', async (change, shown) => {
      const { id } = await create();
      expect(templateIn(await update(id, change))).toMatchObject({ version: 2, ...shown });
    });

    it('a new name does not create a version, and emails with the old one are refused', async () => {
      const { id, name } = await create({ html: 'x', subject: 'x' });
      const renamed = validTemplate().name;
      expect(templateIn(await update(id, { name: renamed }))).toMatchObject({ version: 1, name: renamed });
      const send = (template: string) =>
        stack.api().post('/v1/emails', { template, to: 'ada@receiver.example' });
      expect(statusesOf([await send(name), await send(renamed)])).toEqual([400, 200]);
    });

    it('a name is saved without the spaces around it', async () => {
      const { id, name } = await create({ name: '  Söker 👨‍👩‍👧 ' });
      expect(name).toBe('Söker 👨‍👩‍👧');
      expect(templateIn(await update(id, { name: '\u00a0Renamed ' }))).toMatchObject({ name: 'Renamed' });
    });

    it('an update without a change writes nothing', async () => {
      const created = await create();
      expect(templateIn(await update(created.id, { html: created.html, name: created.name }))).toEqual(
        created,
      );
      expect(templateIn(await update(created.id, {}))).toEqual(created);
      expect(await auditOf(created.id)).toHaveLength(1);
    });

    it('concurrent changes all take effect', async () => {
      const { id } = await create();
      const changes = [{ subject: 'Changed' }, { html: 'changed' }, { text: 'changed' }];
      expect(statusesOf(await Promise.all(changes.map((change) => update(id, change))))).toEqual([
        200, 200, 200,
      ]);
      expect(templateIn(await read(id))).toMatchObject({
        subject: 'Changed',
        html: 'changed',
        text: 'changed',
        version: 4,
      });
    });
  });

  it('400, S3: a change that does not compile changes nothing', async () => {
    const created = await create();
    const answer = await update(created.id, { html: '{{#if a}}' });
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining('never closed')]);
    expect(templateIn(await read(created.id))).toEqual(created);
  });

  it('400, S3: tags where they would be sent as they are', async () => {
    const created = await create();
    const answer = await update(created.id, {
      from: '{{sender}}',
      fromName: '{{shop}}',
      replyTo: '{{agent}}',
    });
    expect(answer.status).toBe(400);
    for (const field of ['from', 'fromName', 'replyTo'])
      expect(answer.body['message']).toContain(`\`${field}\` has a tag (\`{{\`)`);
    expect(templateIn(await read(created.id))).toEqual(created);
  });

  it('409: the name of another existing template', async () => {
    const [{ id }, { name }] = [await create(), await create()];
    expect((await update(id, { name })).status).toBe(409);
  });
});

describe('DELETE /v1/templates/{template_id}', () => {
  it('200: shows it for the last time; afterwards it is 404, and its name can be used again', async () => {
    const created = await create();
    const answer = await remove(created.id);
    expect(answer.body).toEqual({ template: created, isDeleted: true });
    expect(
      statusesOf([await remove(created.id), await read(created.id), await update(created.id, {})]),
    ).toEqual([404, 404, 404]);
    expect((await create({ name: created.name })).id).not.toBe(created.id);
    expect((await auditOf(created.id)).map(({ action }) => action)).toEqual([
      'template.created',
      'template.deleted',
    ]);
  });
});

describe('GET /v1/templates/{template_id}/versions', () => {
  it('200, G10: the versions, page by page, in both orders', async () => {
    const { id } = await create();
    for (const n of [2, 3]) await update(id, { subject: `Version ${n}` });
    const versions = async (query: string) =>
      (await api.get(`/v1/templates/${id}/versions${query}`, { key: tenant.keys.viewer })).body[
        'versions'
      ] as {
        items: { version: number; subject: string; createdAt: string }[];
        startAt: string;
      };
    const first = await versions('?limit=2');
    expect(first).toMatchObject({
      items: [{ version: 3, subject: 'Version 3' }, { version: 2 }],
      hasMore: true,
    });
    const second = await versions(`?limit=2&startAt=${first.startAt}`);
    expect(second).toMatchObject({ items: [{ version: 1 }], hasMore: false, startAt: null });
    expect((await versions('?sort=createdAt.asc')).items.map(({ version }) => version)).toEqual([1, 2, 3]);
  });

  it('G3: a page that would begin with a version of another template reveals nothing about it', async () => {
    const [one, other] = [await create(), await create()];
    for (const { id } of [one, other]) await update(id, { subject: 'Another' });
    const page = async (id: string, query: string) =>
      (await api.get(`/v1/templates/${id}/versions${query}`, { key: tenant.keys.viewer })).body['versions'];
    const { startAt } = (await page(other.id, '?limit=1')) as { startAt: string };
    expect(await page(one.id, `?startAt=${startAt}`)).toEqual({ items: [], hasMore: false, startAt: null });
  });
});

import { describe, expect, it } from '@jest/globals';
import { newId, uuidOf, type TemplateId, type WorkspaceId } from '@posthorn/kernel';
import { operator, type PageRequest, WORKSPACE_LIMITS } from '@posthorn/domain';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { TemplateChanges } from './template-changes.ts';
import type { Template, TemplateContent } from './template-row.ts';
import { TemplateStore } from './template-store.ts';

const ADA = operator('ada');
const FIRST = { limit: 2, sort: 'createdAt.asc' } as const;

const stores = await openTestStores();
const store = new TemplateStore(stores.database);
const changes = new TemplateChanges(stores.database);

const content = (change: Partial<TemplateContent> = {}): TemplateContent => ({
  from: { address: 'shop@example.com', name: 'Shop' },
  replyTo: [{ address: 'help@example.com' }],
  parts: { subject: 'Hi {{name}}', html: '<p>é {{name}}</p>', text: 'Hi', previewText: 'Soon' },
  defaults: { 'z': 1, 'a"\\': { é: [null, 1.5] }, '10': true },
  required: ['name', 'user.[first name]'],
  unsubscribe: true,
  ...change,
});

const created = async (
  workspaceId: WorkspaceId,
  name: string,
  change?: Partial<TemplateContent>,
): Promise<Template> => {
  const template = await changes.create(workspaceId, ADA, { name, content: content(change) });
  if (typeof template === 'string') throw new Error(template);
  return template;
};
const auditOf = (id: TemplateId) =>
  stores.ask('SELECT action, detail FROM audit_log WHERE subject_id = $1 ORDER BY id', [id]);

describe('TemplateStore and TemplateChanges', () => {
  it('store a template, with its variables in their order', async () => {
    const workspaceId = await stores.openWorkspace();
    const template = await created(workspaceId, 'welcome');
    expect(await store.find(workspaceId, template.id)).toEqual(template);
    expect(template).toMatchObject({ name: 'welcome', version: 1, ...content() });
    expect(Object.keys((await store.find(workspaceId, template.id))!.defaults)).toEqual(['10', 'z', 'a"\\']);
    expect(await auditOf(template.id)).toEqual([{ action: 'template.created', detail: { name: 'welcome' } }]);
  });

  it('store a template without optional fields', async () => {
    const workspaceId = await stores.openWorkspace();
    const bare = {
      from: { address: 'a@example.com' },
      replyTo: [],
      parts: { subject: 'x', html: 'y' },
      defaults: {},
      required: [],
    };
    const template = await created(workspaceId, 'bare', bare);
    expect(await store.find(workspaceId, template.id)).toEqual(template);
  });

  it('S3: a change creates a new version; earlier ones do not change', async () => {
    const workspaceId = await stores.openWorkspace();
    const first = await created(workspaceId, 'welcome');
    const parts = { subject: 'Two', html: 'two' };
    const second = (await changes.update(workspaceId, ADA, first, {
      name: 'hello',
      content: content({ parts }),
    })) as Template;
    expect(second).toMatchObject({ id: first.id, name: 'hello', version: 2, parts });
    expect(await store.find(workspaceId, first.id)).toEqual(second);
    expect(await store.findVersion(workspaceId, first.id, 1)).toMatchObject({
      version: 1,
      parts: first.parts,
    });
    expect(await store.findVersion(workspaceId, first.id, 3)).toBeUndefined();
    expect(await auditOf(first.id)).toContainEqual({
      action: 'template.updated',
      detail: { name: 'hello', nameBefore: 'welcome', version: 2 },
    });
  });

  it('a new name does not create a new version', async () => {
    const workspaceId = await stores.openWorkspace();
    const template = await created(workspaceId, 'welcome');
    expect(await changes.update(workspaceId, ADA, template, { name: 'hello' })).toMatchObject({
      name: 'hello',
      version: 1,
    });
    expect(await store.findCurrent([{ workspaceId, name: 'welcome' }])).toEqual([undefined]);
  });

  it('one of two concurrent changes of the same version is refused', async () => {
    const workspaceId = await stores.openWorkspace();
    const template = await created(workspaceId, 'welcome');
    const both = await Promise.all(
      [1, 2].map((n) =>
        changes.update(workspaceId, ADA, template, {
          name: 'welcome',
          content: content({ required: [`v${n}`] }),
        }),
      ),
    );
    expect(both.filter((one) => one === 'changed')).toHaveLength(1);
    expect(
      await store.listVersions(workspaceId, template.id, { limit: 10, sort: 'createdAt.desc' }),
    ).toMatchObject({
      items: [{ version: 2 }, { version: 1 }],
      hasMore: false,
      startAt: null,
    });
  });

  it('a name belongs to at most one existing template of a workspace', async () => {
    const [one, other] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const template = await created(one, 'welcome');
    const second = await created(one, 'second');
    await created(other, 'welcome');
    expect(await changes.create(one, ADA, { name: 'welcome', content: content() })).toBe('name_taken');
    expect(await changes.update(one, ADA, second, { name: 'welcome' })).toBe('name_taken');
    const atOnce = await Promise.all(
      [1, 2, 3].map(() => changes.create(one, ADA, { name: 'same', content: content() })),
    );
    expect(atOnce.filter((created) => created === 'name_taken')).toHaveLength(2);
    expect(await changes.delete(one, ADA, template.id)).toEqual(template);
    expect((await created(one, 'welcome')).id).not.toBe(template.id);
  });

  it('G11: the number of templates of a workspace is limited, also when two create the last one concurrently', async () => {
    const workspaceId = await stores.openWorkspace();
    const { id, versionId } = await created(workspaceId, 'first');
    await stores.ask(
      `WITH n AS (SELECT gen_random_uuid() AS template, gen_random_uuid() AS version, n FROM generate_series(2, $3::int) n),
            t AS (INSERT INTO templates (id, workspace_id, name, current_version_id) SELECT template, $1, 'n' || n, version FROM n)
       INSERT INTO template_versions (id, template_id, number, from_address, subject, html, required)
       SELECT version, template, 1, 'a@example.com', 'x', 'x', '{}' FROM n WHERE $2::uuid IS NOT NULL`,
      [uuidOf(workspaceId), uuidOf(versionId), WORKSPACE_LIMITS.templates - 1],
    );
    const last = await Promise.all(
      ['a', 'b'].map((name) => changes.create(workspaceId, ADA, { name, content: content() })),
    );
    expect(last.filter((created) => created === 'too_many')).toHaveLength(1);
    await changes.delete(workspaceId, ADA, id);
    await created(workspaceId, 'room again');
  });

  it('a deleted template is no longer found, except by the emails with its version', async () => {
    const workspaceId = await stores.openWorkspace();
    const template = await created(workspaceId, 'welcome');
    const current = await changes.update(workspaceId, ADA, template, {
      name: 'goodbye',
      content: content({ parts: { subject: 'Bye', html: '<p>Bye</p>' }, replyTo: [] }),
    });
    expect(await changes.delete(workspaceId, ADA, template.id)).toEqual(current);
    expect(await changes.delete(workspaceId, ADA, template.id)).toBeUndefined();
    expect(await store.find(workspaceId, template.id)).toBeUndefined();
    expect(await store.findVersion(workspaceId, template.id, 1)).toBeUndefined();
    expect(await store.findCurrent([{ workspaceId, name: 'goodbye' }])).toEqual([undefined]);
    expect(await changes.update(workspaceId, ADA, template, { name: 'x' })).toBe('unknown');
    expect((await store.findVersions([template.versionId]))[0]).toEqual({
      id: template.versionId,
      templateId: template.id,
      parts: template.parts,
      defaults: JSON.stringify(template.defaults),
    });
    expect((await auditOf(template.id)).map(({ action }) => action as string)).toEqual([
      'template.created',
      'template.updated',
      'template.deleted',
    ]);
  });

  it('G3: a template of another workspace is unknown, like one that does not exist', async () => {
    const [own, foreign] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const template = await created(foreign, 'welcome');
    expect(await store.find(own, template.id)).toBeUndefined();
    expect(await store.findVersion(own, template.id, 1)).toBeUndefined();
    expect(await store.listVersions(own, template.id, { limit: 1, sort: 'createdAt.desc' })).toBeUndefined();
    expect(await changes.delete(own, ADA, template.id)).toBeUndefined();
    expect(await changes.update(own, ADA, template, { name: 'mine', content: content() })).toBe('unknown');
    expect(await store.find(foreign, template.id)).toEqual(template);
  });

  it('find the templates for a group of emails, in order', async () => {
    const [one, other] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const a = await created(one, 'a');
    const b = await created(other, 'b', { from: { address: 'b@example.com' }, replyTo: [], required: [] });
    const names = [
      { workspaceId: other, name: 'b' },
      { workspaceId: one, name: 'b' },
      { workspaceId: one, name: 'a' },
      { workspaceId: one, name: 'a' },
    ];
    const current = {
      versionId: a.versionId,
      from: { address: 'shop@example.com', name: 'Shop' },
      replyTo: [{ address: 'help@example.com' }],
      required: ['name', 'user.[first name]'],
      unsubscribe: true,
      bytes: Buffer.byteLength('<p>é {{name}}</p>Hi'),
    };
    expect(await store.findCurrent(names)).toEqual([
      expect.objectContaining({
        versionId: b.versionId,
        from: { address: 'b@example.com' },
        replyTo: [],
        required: [],
      }),
      undefined,
      current,
      current,
    ]);
    expect(await store.findCurrent([])).toEqual([]);
    expect(await store.findVersions([b.versionId, newId('tpv', 0), a.versionId])).toEqual([
      expect.objectContaining({ id: b.versionId }),
      undefined,
      expect.objectContaining({ id: a.versionId }),
    ]);
  });

  it('G10: list all templates once, page by page, in both orders', async () => {
    const workspaceId = await stores.openWorkspace();
    const ids: TemplateId[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) ids.push((await created(workspaceId, name)).id);
    await created(await stores.openWorkspace(), 'foreign');
    const seen: TemplateId[] = [];
    let page: PageRequest<TemplateId> | undefined = FIRST;
    while (page !== undefined) {
      const { items, startAt, hasMore } = await store.list(workspaceId, page);
      expect(hasMore).toBe(startAt !== null);
      seen.push(...items.map(({ id }) => id));
      page = startAt === null ? undefined : { ...FIRST, startAt: `tpl_${startAt}` as TemplateId };
    }
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen).toEqual([...seen].sort());
    const backwards = await store.list(workspaceId, { limit: 5, sort: 'createdAt.desc' });
    expect(backwards.items.map(({ id }) => id)).toEqual([...seen].reverse());
    expect(backwards.items[0]).not.toHaveProperty('html');
    const named = (name: string) => store.list(workspaceId, FIRST, name);
    expect(await named('c')).toMatchObject({
      items: [{ id: ids[2], name: 'c' }],
      hasMore: false,
      startAt: null,
    });
    expect(await named('foreign')).toMatchObject({ items: [], hasMore: false, startAt: null });
  });
});

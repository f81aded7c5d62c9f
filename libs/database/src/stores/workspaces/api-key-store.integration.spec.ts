import { describe, expect, it } from '@jest/globals';
import { newId, type WorkspaceId } from '@posthorn/kernel';
import { operator, WORKSPACE_LIMITS } from '@posthorn/domain';
import { randomBytes } from 'node:crypto';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { type ApiKey, ApiKeyStore, type NewApiKey } from './api-key-store.ts';
import { AuditLogStore } from './audit-log-store.ts';

const ACTOR = operator('test');

const stores = await openTestStores();
const other = stores.another();
const acme = await stores.openWorkspace();
const keys = new ApiKeyStore(stores.database);

function newKey(): NewApiKey {
  return {
    displayName: 'Key',
    role: 'VIEWER',
    secretHash: randomBytes(32),
    secretHint: 'phk_1234...5678',
  };
}

async function created(workspaceId = acme): Promise<ApiKey> {
  return (await keys.create(workspaceId, ACTOR, newKey()))!;
}

async function auditOf(workspaceId: WorkspaceId): Promise<object[]> {
  const page = { limit: 200, sort: 'createdAt.asc' } as const;
  const log = await new AuditLogStore(stores.database).list(workspaceId, page);
  return log.items.filter(({ action }) => action.startsWith('api_key.'));
}

describe('The keys of a workspace', () => {
  it('are limited exactly, also when two processes add keys concurrently', async () => {
    const crowded = await stores.openWorkspace();
    const max = WORKSPACE_LIMITS.apiKeys;
    for (let n = 0; n < max - 3; n += 1) await created(crowded);
    const bothStores = [keys, new ApiKeyStore(other.database)];
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) => bothStores[n % 2]!.create(crowded, ACTOR, newKey())),
    );
    expect(outcomes.filter((key) => key !== undefined)).toHaveLength(3);
    expect(await keys.list(crowded)).toHaveLength(max);
    expect(await auditOf(crowded)).toHaveLength(max);
  });

  it('have each change recorded in the audit log, without secrets', async () => {
    const quiet = await stores.openWorkspace();
    const { id } = await created(quiet);
    await keys.update(quiet, ACTOR, id, { displayName: 'Renamed' });
    await keys.update(quiet, ACTOR, id, {});
    await keys.delete(quiet, ACTOR, id);
    const told = { actor: ACTOR, subjectId: id };
    expect(await auditOf(quiet)).toMatchObject([
      { ...told, action: 'api_key.created', detail: { displayName: 'Key', role: 'VIEWER' } },
      { ...told, action: 'api_key.updated', detail: { displayName: 'Renamed' } },
      { ...told, action: 'api_key.deleted', detail: { displayName: 'Renamed', role: 'VIEWER' } },
    ]);
    expect(JSON.stringify(await auditOf(quiet))).not.toMatch(/phk_|secret/);
  });

  it('are not added when their audit entry cannot be written', async () => {
    const quiet = await stores.openWorkspace();
    const unnamed = { kind: 'operator', name: '\0' } as const;
    await expect(keys.create(quiet, unnamed, newKey())).rejects.toThrow();
    expect(await keys.list(quiet)).toEqual([]);
  });

  it('cannot be reached from another workspace', async () => {
    const { id } = await created();
    const elsewhere = await stores.openWorkspace();
    expect(await keys.update(elsewhere, ACTOR, id, { role: 'EDITOR' })).toBeUndefined();
    expect(await keys.delete(elsewhere, ACTOR, id)).toBeUndefined();
    expect(await auditOf(elsewhere)).toEqual([]);
    expect((await keys.list(acme)).find((key) => key.id === id)).toMatchObject({ role: 'VIEWER' });
  });

  it('have a later update time after a change, also by a process whose clock is behind', async () => {
    const late = stores.another(2);
    late.database.clock.observe(Date.now() - 60_000, performance.now());
    const { id, updatedAt } = await created();
    const changed = await new ApiKeyStore(late.database).update(acme, ACTOR, id, { displayName: 'Late' });
    expect(changed!.updatedAt.getTime()).toBe(updatedAt.getTime() + 1);
  });
});

describe('When a key was last used', () => {
  const lastUse = async (id: string): Promise<number | undefined> =>
    (await keys.list(acme)).find((key) => key.id === id)?.lastUsedAt?.getTime();

  it('is recorded for many at once, and never moves back', async () => {
    const [first, second, unused] = [await created(), await created(), await created()];
    const nowMs = Date.now();
    await keys.noteUses([
      { apiKeyId: first.id, atMs: nowMs },
      { apiKeyId: second.id, atMs: nowMs - 500 },
    ]);
    await keys.noteUses([
      { apiKeyId: first.id, atMs: nowMs - 1_000 },
      { apiKeyId: second.id, atMs: nowMs },
    ]);
    expect([await lastUse(first.id), await lastUse(second.id), await lastUse(unused.id)]).toEqual([
      nowMs,
      nowMs,
      undefined,
    ]);
  });

  it('is ignored for a deleted key', async () => {
    const { id } = await created();
    await keys.delete(acme, ACTOR, id);
    await keys.noteUses([
      { apiKeyId: id, atMs: Date.now() },
      { apiKeyId: newId('aki', Date.now()), atMs: Date.now() },
    ]);
    expect(await lastUse(id)).toBeUndefined();
  });

  it('is recorded by several processes concurrently', async () => {
    const some = await Promise.all(Array.from({ length: 20 }, () => created()));
    const atMs = Date.now();
    const uses = some.map(({ id }) => ({ apiKeyId: id, atMs }));
    const there = new ApiKeyStore(other.database);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? keys.noteUses(uses) : there.noteUses(uses.toReversed()))),
    );
    for (const { id } of some) expect(await lastUse(id)).toBe(atMs);
  });
});

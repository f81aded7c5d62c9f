import { type ApiKeyId, idFromUuid, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, type Role, WORKSPACE_LIMITS } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { ApiKey as ApiKeyRow } from '../../generated/client.ts';
import { FIND_KEY_HOLDERS, NOTE_KEY_USES } from '../../sql/api-keys.ts';
import { changeWorkspace } from '../../transactions/transaction.ts';
import { recordAudit } from './audit-log-store.ts';

export interface ApiKey {
  readonly id: ApiKeyId;
  readonly workspaceId: WorkspaceId;
  readonly displayName: string;
  readonly role: Role;
  /** The abbreviated secret. */
  readonly secretHint: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** When it was last used, to about a minute; null: never. */
  readonly lastUsedAt: Date | null;
}

export interface NewApiKey extends Pick<ApiKey, 'displayName' | 'role' | 'secretHint'> {
  readonly secretHash: Buffer;
}

/** A change of a key; absent fields are kept. */
type ApiKeyChange = Partial<Pick<ApiKey, 'displayName' | 'role'>>;

/** When a key was last used. */
interface ApiKeyUse {
  readonly apiKeyId: ApiKeyId;
  /** The database's time, in milliseconds since 1970. */
  readonly atMs: number;
}

/** What a request may do with its key. */
export interface KeyHolder {
  readonly apiKeyId: ApiKeyId;
  readonly workspaceId: WorkspaceId;
  readonly role: Role;
  readonly displayName: string;
  /** The workspace's own rate limit; null: the installation's. See RATE_LIMIT_PER_SECOND and RATE_LIMIT_BURST. */
  readonly ratePerSecond: number | null;
  readonly rateBurst: number | null;
}

interface KeyHolderRow extends Omit<KeyHolder, 'apiKeyId' | 'workspaceId'> {
  readonly secretHash: Buffer;
  readonly id: string;
  readonly workspaceId: string;
}

/** The API keys of workspaces. */
export class ApiKeyStore {
  constructor(private readonly database: Database) {}

  /** Adds a key; undefined when the workspace has the maximum. */
  create(workspaceId: WorkspaceId, actor: Actor, key: NewApiKey): Promise<ApiKey | undefined> {
    const nowMs = this.database.clock.nowMs();
    const { displayName, role, secretHint } = key;
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const workspace = uuidOf(workspaceId);
      const there = await transaction.apiKey.count({ where: { workspaceId: workspace } });
      if (there >= WORKSPACE_LIMITS.apiKeys) return undefined;
      const secretHash = new Uint8Array(key.secretHash);
      const times = { createdAt: new Date(nowMs), updatedAt: new Date(nowMs) };
      const data = { id: newUuid(nowMs), workspaceId: workspace, displayName, role, secretHash, secretHint };
      const created = apiKeyOf(await transaction.apiKey.create({ data: { ...data, ...times } }));
      await recordAudit(transaction, nowMs, {
        workspaceId,
        action: 'api_key.created',
        actor,
        subjectId: created.id,
        detail: { displayName, role },
      });
      return created;
    });
  }

  /** Changes a key; undefined when the workspace has none with this id. An empty change does nothing. */
  update(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: ApiKeyId,
    change: ApiKeyChange,
  ): Promise<ApiKey | undefined> {
    const nowMs = this.database.clock.nowMs();
    const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId) };
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const before = await transaction.apiKey.findFirst({ where });
      if (before === null) return undefined;
      if (Object.keys(change).length === 0) return apiKeyOf(before);
      const updatedAt = momentAfter(before.updatedAt, nowMs);
      const after = apiKeyOf(await transaction.apiKey.update({ where, data: { ...change, updatedAt } }));
      await recordAudit(transaction, nowMs, {
        workspaceId,
        action: 'api_key.updated',
        actor,
        subjectId: id,
        detail: { ...change },
      });
      return after;
    });
  }

  /** Deletes a key permanently and returns it as it was; undefined when the workspace has none with this id. */
  delete(workspaceId: WorkspaceId, actor: Actor, id: ApiKeyId): Promise<ApiKey | undefined> {
    const nowMs = this.database.clock.nowMs();
    const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId) };
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const before = await transaction.apiKey.findFirst({ where });
      if (before === null) return undefined;
      const deleted = apiKeyOf(await transaction.apiKey.delete({ where }));
      const { displayName, role } = deleted;
      await recordAudit(transaction, nowMs, {
        workspaceId,
        action: 'api_key.deleted',
        actor,
        subjectId: id,
        detail: { displayName, role },
      });
      return { ...deleted, updatedAt: momentAfter(deleted.updatedAt, nowMs) };
    });
  }

  /** All keys of a workspace, the oldest first. */
  async list(workspaceId: WorkspaceId): Promise<ApiKey[]> {
    const rows = await this.database.prisma.apiKey.findMany({
      where: { workspaceId: uuidOf(workspaceId) },
      orderBy: { id: 'asc' },
    });
    return rows.map(apiKeyOf);
  }

  /** Records when keys were last used; skips keys that were deleted, or used later. */
  async noteUses(uses: readonly ApiKeyUse[]): Promise<void> {
    const rows = uses.map(({ apiKeyId, atMs }) => ({ id: uuidOf(apiKeyId), at: new Date(atMs) }));
    await this.database.pool.query(NOTE_KEY_USES, [JSON.stringify(rows)]);
  }

  /** The holders of the keys with these hashes, in the order of the hashes. */
  async findHolders(secretHashes: readonly Buffer[]): Promise<(KeyHolder | undefined)[]> {
    const names = secretHashes.map((hash) => hash.toString('latin1'));
    // Under load, most concurrent requests use the same few keys.
    const distinct = [...new Map(names.map((name, index) => [name, secretHashes[index]!])).values()];
    const { rows } = await this.database.pool.query<KeyHolderRow>({
      name: 'find_key_holders',
      text: FIND_KEY_HOLDERS,
      values: [distinct],
    });
    const holders = new Map<string, KeyHolder>();
    for (const { secretHash, id, workspaceId, ...traits } of rows) {
      const ids = { apiKeyId: idFromUuid('aki', id), workspaceId: idFromUuid('wrk', workspaceId) };
      holders.set(secretHash.toString('latin1'), { ...ids, ...traits });
    }
    return names.map((name) => holders.get(name));
  }
}

function apiKeyOf(row: ApiKeyRow): ApiKey {
  const { displayName, role, secretHint, createdAt, updatedAt, lastUsedAt } = row;
  return {
    id: idFromUuid('aki', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    displayName,
    role,
    secretHint,
    createdAt,
    updatedAt,
    lastUsedAt,
  };
}

/** Now, but at least a millisecond after `before`, so that the change is visible: the clocks of gateways differ a little. */
function momentAfter(before: Date, nowMs: number): Date {
  return new Date(Math.max(Math.trunc(nowMs), before.getTime() + 1));
}

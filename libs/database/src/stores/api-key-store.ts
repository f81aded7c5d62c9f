import { type ApiKeyId, idFromUuid, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Role } from '@posthorn/domain';
import { type Database } from '../connection.ts';
import { type ApiKey as ApiKeyRow } from '../generated/client.ts';
import { FIND_KEY_HOLDERS } from '../sql/api-keys.ts';

export interface ApiKey {
  readonly id: ApiKeyId;
  readonly workspaceId: WorkspaceId;
  readonly displayName: string;
  readonly role: Role;
  /** The abbreviated secret. */
  readonly secretHint: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewApiKey {
  readonly displayName: string;
  readonly role: Role;
  readonly secretHash: Buffer;
  readonly secretHint: string;
}

/** What a request may do because of the key that it carries. */
export interface KeyHolder {
  readonly apiKeyId: ApiKeyId;
  readonly workspaceId: WorkspaceId;
  readonly role: Role;
  readonly displayName: string;
  /** The workspace's own rate; null: the installation's. See RATE_LIMIT_PER_SECOND and RATE_LIMIT_BURST. */
  readonly ratePerSecond: number | null;
  readonly rateBurst: number | null;
}

interface KeyHolderRow extends Omit<KeyHolder, 'apiKeyId' | 'workspaceId'> {
  readonly secretHash: Buffer;
  readonly id: string;
  readonly workspaceId: string;
}

/** The credentials of workspaces. */
export class ApiKeyStore {
  constructor(private readonly database: Database) {}

  async create(workspaceId: WorkspaceId, key: NewApiKey): Promise<ApiKey> {
    const { displayName, role, secretHint } = key;
    const row = await this.database.prisma.apiKey.create({
      data: {
        id: newUuid(this.database.clock.nowMs()),
        workspaceId: uuidOf(workspaceId),
        displayName,
        role,
        secretHash: new Uint8Array(key.secretHash),
        secretHint,
      },
    });
    return apiKey(row);
  }

  /** All of a workspace, the oldest first. */
  async list(workspaceId: WorkspaceId): Promise<ApiKey[]> {
    const rows = await this.database.prisma.apiKey.findMany({
      where: { workspaceId: uuidOf(workspaceId) },
      orderBy: { id: 'asc' },
    });
    return rows.map(apiKey);
  }

  /** The holders of the keys with these hashes, in the order of the hashes. */
  async findHolders(secretHashes: readonly Buffer[]): Promise<(KeyHolder | undefined)[]> {
    const { rows } = await this.database.pool.query<KeyHolderRow>({
      name: 'find_key_holders',
      text: FIND_KEY_HOLDERS,
      values: [secretHashes],
    });
    const holders = new Map<string, KeyHolder>();
    for (const { secretHash, id, workspaceId, ...traits } of rows) {
      const ids = { apiKeyId: idFromUuid('aki', id), workspaceId: idFromUuid('wrk', workspaceId) };
      holders.set(secretHash.toString('latin1'), { ...ids, ...traits });
    }
    return secretHashes.map((hash) => holders.get(hash.toString('latin1')));
  }
}

function apiKey(row: ApiKeyRow): ApiKey {
  const { displayName, role, secretHint, createdAt, updatedAt } = row;
  return {
    id: idFromUuid('aki', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    displayName,
    role,
    secretHint,
    createdAt,
    updatedAt,
  };
}

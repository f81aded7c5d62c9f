import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Database } from '../../connection/connection.ts';
import { READ_SIGNING_KEYS } from '../../sql/dkim-keys.ts';
import type { NewDkimKey } from './dkim-key-changes.ts';

/** A domain of a workspace, in lower case and punycode. */
export interface SendingDomain {
  readonly workspaceId: WorkspaceId;
  readonly domain: string;
}

/** A signing key of a domain. */
export type SealedSigningKey = Pick<NewDkimKey, 'id' | 'algorithm' | 'selector' | 'sealedPrivateKey'>;

type KeyRow = SealedSigningKey & { readonly n: number };

/** Reads the keys that emails are signed with. */
export class DkimKeyStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** The current signing keys of each domain, RSA first; none where the domain is not verified, or its keys are not published. */
  async readSigningKeys(domains: readonly SendingDomain[]): Promise<SealedSigningKey[][]> {
    const { rows } = await this.database.pool.query<KeyRow>({
      name: 'read_signing_keys',
      text: READ_SIGNING_KEYS,
      values: [domains.map(({ workspaceId }) => uuidOf(workspaceId)), domains.map(({ domain }) => domain)],
    });
    const found: SealedSigningKey[][] = domains.map(() => []);
    for (const { n, ...key } of rows) found[n - 1]!.push(key);
    return found;
  }
}

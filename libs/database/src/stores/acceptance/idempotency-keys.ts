import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type pg from 'pg';
import {
  ANSWER_IDEMPOTENCY_KEYS,
  GIVE_BACK_IDEMPOTENCY_KEYS,
  READ_IDEMPOTENCY_KEYS,
  TAKE_IDEMPOTENCY_KEYS,
} from '../../sql/idempotency-keys.ts';
import type { IdempotencyClaim, KnownAnswer } from './acceptable-email.ts';

/** A claim with a number that identifies its row. */
export interface NumberedClaim {
  readonly n: number;
  readonly workspaceId: WorkspaceId;
  readonly claim: IdempotencyClaim & { readonly answer?: string | undefined };
}

/** Takes and gives back the idempotency keys of a group, on a connection whose transaction the caller begins and ends. */
export class IdempotencyKeys {
  constructor(private readonly connection: pg.Pool | pg.PoolClient) {}

  /** Takes the free ones of these keys, which must be distinct. @returns the numbers of those, and the answers stored under the others, by number */
  async take(
    claims: readonly NumberedClaim[],
  ): Promise<{ taken: ReadonlySet<number>; known: ReadonlyMap<number, KnownAnswer> }> {
    const { rows } = await this.connection.query<{ n: number }>({
      name: 'take_idempotency_keys',
      text: TAKE_IDEMPOTENCY_KEYS,
      values: [claimsAsJson(claims)],
    });
    const taken = new Set(rows.map((row) => row.n));
    return { taken, known: await this.read(claims.filter(({ n }) => !taken.has(n))) };
  }

  /** Stores answers under keys that were taken. */
  async answer(claims: readonly NumberedClaim[]): Promise<void> {
    if (claims.length > 0) await this.connection.query(ANSWER_IDEMPOTENCY_KEYS, [claimsAsJson(claims)]);
  }

  /** Deletes keys that were taken and are not used up. */
  async giveBack(claims: readonly NumberedClaim[]): Promise<void> {
    if (claims.length > 0) await this.connection.query(GIVE_BACK_IDEMPOTENCY_KEYS, [claimsAsJson(claims)]);
  }

  /** The answers stored under keys of others, by number; without keys that were given back or have expired meanwhile. */
  async read(claims: readonly NumberedClaim[]): Promise<Map<number, KnownAnswer>> {
    if (claims.length === 0) return new Map();
    const { rows } = await this.connection.query<KnownAnswer & { n: number }>(READ_IDEMPOTENCY_KEYS, [
      claimsAsJson(claims),
    ]);
    return new Map(rows.map(({ n, fingerprint, answer }) => [n, { fingerprint, answer }]));
  }
}

/** Identifies a key over all workspaces. */
export function keyOf(workspaceId: WorkspaceId, { key }: IdempotencyClaim): string {
  return `${workspaceId} ${key}`;
}

function claimsAsJson(claims: readonly NumberedClaim[]): string {
  return JSON.stringify(
    claims.map(({ n, workspaceId, claim }) => ({
      n,
      workspace_id: uuidOf(workspaceId),
      key: claim.key,
      fingerprint: claim.fingerprint.toString('hex'),
      // The answer of a call is known only after its emails have been decided; nobody can read this one before the commit.
      answer: claim.answer ?? '',
      expires_at: claim.expiresAt,
    })),
  );
}

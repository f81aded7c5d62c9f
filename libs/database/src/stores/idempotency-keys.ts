import type pg from 'pg';
import {
  ANSWER_IDEMPOTENCY_KEYS,
  GIVE_BACK_IDEMPOTENCY_KEYS,
  READ_IDEMPOTENCY_KEYS,
  TAKE_IDEMPOTENCY_KEYS,
} from '../sql/accept.ts';
import { claimsAsJson, type KnownAnswer, type NumberedClaim } from './acceptable-email.ts';

/** Takes and gives back the idempotency keys of a group, on a connection whose transaction the caller begins and ends. */
export class IdempotencyKeys {
  constructor(private readonly connection: pg.Pool | pg.PoolClient) {}

  /** Takes the free ones of these keys, which must be distinct. @returns the numbers of those, and the answers stored under the others, by number */
  async take(
    claims: readonly NumberedClaim[],
  ): Promise<{ taken: ReadonlySet<number>; known: ReadonlyMap<number, KnownAnswer> }> {
    if (claims.length === 0) return { taken: new Set(), known: new Map() };
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

/** Identifies the key of a claim over all workspaces. */
export function keyOf({ workspaceId, claim }: Pick<NumberedClaim, 'workspaceId' | 'claim'>): string {
  return `${workspaceId} ${claim.key}`;
}

import type pg from 'pg';
import {
  ANSWER_IDEMPOTENCY_KEYS,
  GIVE_BACK_IDEMPOTENCY_KEYS,
  READ_IDEMPOTENCY_KEYS,
  TAKE_IDEMPOTENCY_KEYS,
} from '../sql/accept.ts';
import { claimsAsJson, type KnownAnswer, type NumberedClaim } from './acceptable-email.ts';

/** The idempotency keys of a group of calls, on a connection whose transaction somebody else begins and ends. */
export class IdempotencyKeys {
  constructor(private readonly connection: pg.Pool | pg.PoolClient) {}

  /** Takes those that nobody has, and gives what the others stand for; each by its number. No key may be there twice. */
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

  /** Writes what those that were taken stand for. */
  async answer(claims: readonly NumberedClaim[]): Promise<void> {
    if (claims.length > 0) await this.connection.query(ANSWER_IDEMPOTENCY_KEYS, [claimsAsJson(claims)]);
  }

  /** Lets go of those that were taken and not used up. */
  async giveBack(claims: readonly NumberedClaim[]): Promise<void> {
    if (claims.length > 0) await this.connection.query(GIVE_BACK_IDEMPOTENCY_KEYS, [claimsAsJson(claims)]);
  }

  /** What those that another has stand for, by their numbers; without those that have been given back or have expired meanwhile. */
  async read(claims: readonly NumberedClaim[]): Promise<Map<number, KnownAnswer>> {
    if (claims.length === 0) return new Map();
    const { rows } = await this.connection.query<KnownAnswer & { n: number }>(READ_IDEMPOTENCY_KEYS, [
      claimsAsJson(claims),
    ]);
    return new Map(rows.map(({ n, fingerprint, answer }) => [n, { fingerprint, answer }]));
  }
}

/** The same for two claims of the same key. */
export function keyOf({ workspaceId, claim }: Pick<NumberedClaim, 'workspaceId' | 'claim'>): string {
  return `${workspaceId} ${claim.key}`;
}

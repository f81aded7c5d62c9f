import { PROOF_LIMITS } from './domain-proof.ts';
import type { RecordState } from './record-state.ts';

/** The state of a key after the checks of its record so far. Emails are signed with it while `publishedAtMs` is not null. */
export interface KeyProof {
  /** When a check first found its record; null: not found yet, or removed since. */
  readonly publishedAtMs: number | null;
  /** The time of the first of a run of consecutive wrong answers; null: there is no run. */
  readonly wrongSinceMs: number | null;
}

/** The state of a key that is not used to sign. */
export const UNPUBLISHED: KeyProof = { publishedAtMs: null, wrongSinceMs: null };

/**
 * The state of a key after a check of its record: one right answer publishes it; only a run of wrong answers that is long enough to end the
 * verification of a domain unpublishes it. Receivers ignore a signature whose key is missing, so continuing to sign does no harm, while to
 * stop because a name server failed briefly would.
 *
 * @param nowMs the database's time
 */
export function keyProofAfter(proof: KeyProof, state: RecordState, nowMs: number): KeyProof {
  const { publishedAtMs, wrongSinceMs } = proof;
  if (state === 'FOUND') return { publishedAtMs: publishedAtMs ?? nowMs, wrongSinceMs: null };
  if (state === 'UNANSWERED' || state === 'UNCHECKED' || publishedAtMs === null) return proof;
  if (wrongSinceMs === null) return { publishedAtMs, wrongSinceMs: nowMs };
  return nowMs - wrongSinceMs >= PROOF_LIMITS.unverifiedAfterMs ? UNPUBLISHED : proof;
}

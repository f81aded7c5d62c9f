import { PROOF_LIMITS } from './domain-proof.ts';
import type { RecordState } from './record-verdict.ts';

/** What is known of a key from the looks at its record so far. Emails are signed with a key while `publishedAtMs` is not null. */
export interface KeyProof {
  /** When the DNS was first seen to hold it; null while it was not, or not any more. */
  readonly publishedAtMs: number | null;
  /** When the first of an unbroken run of definite wrong answers came; null while there is none. */
  readonly wrongSinceMs: number | null;
}

/** Of a key that nothing is signed with. */
export const UNPUBLISHED: KeyProof = { publishedAtMs: null, wrongSinceMs: null };

/**
 * What a look at its record means for a key: one right answer publishes it, and only so long a run of definite wrong ones as un-verifies a
 * domain ends that. Receivers take a signature whose key is gone for none, so signing on does no harm; to stop signing
 * because a name server had a bad moment would.
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

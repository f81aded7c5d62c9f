import { describe, expect, it } from '@jest/globals';
import { type KeyProof, keyProofAfter } from './key-proof.ts';
import type { RecordState } from './record-state.ts';

const HOUR_MS = 3_600_000;
const NEVER: KeyProof = { publishedAtMs: null, wrongSinceMs: null };

/** Applies checks, each at an hour. */
function after(looks: readonly (readonly [hour: number, state: RecordState])[]): KeyProof {
  return looks.reduce((proof, [hour, state]) => keyProofAfter(proof, state, hour * HOUR_MS), NEVER);
}

describe('A key', () => {
  it('signs from the first check on that finds it', () => {
    expect(
      after([
        [1, 'MISSING'],
        [2, 'UNANSWERED'],
        [3, 'WRONG'],
      ]),
    ).toEqual(NEVER);
    expect(
      after([
        [1, 'MISSING'],
        [2, 'FOUND'],
        [3, 'FOUND'],
      ]),
    ).toEqual({
      publishedAtMs: 2 * HOUR_MS,
      wrongSinceMs: null,
    });
  });

  it('continues to sign despite wrong answers for a while, and despite missing answers for ever', () => {
    const proof = after([
      [0, 'FOUND'],
      [1, 'MISSING'],
      [40, 'WRONG'],
      [72, 'MISSING'],
      [500, 'UNANSWERED'],
    ]);
    expect(proof).toEqual({ publishedAtMs: 0, wrongSinceMs: HOUR_MS });
    expect(keyProofAfter(proof, 'FOUND', 501 * HOUR_MS)).toEqual({ publishedAtMs: 0, wrongSinceMs: null });
  });

  it('stops signing after three days of nothing but wrong answers', () => {
    expect(
      after([
        [0, 'FOUND'],
        [1, 'MISSING'],
        [73, 'MISSING'],
      ]),
    ).toEqual(NEVER);
  });
});

import { describe, expect, it } from '@jest/globals';
import {
  checkOutcome,
  type CheckOutcome,
  decideAfterCheck,
  type DomainProof,
  nextCheckAfterSeconds,
  type ProofChange,
} from './domain-proof.ts';
import { IDENTITY_STATUSES, type IdentityStatus, maySendFrom } from './identity-status.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 21);

function proof(status: IdentityStatus, change: Partial<DomainProof> = {}): DomainProof {
  return {
    status,
    isVouched: false,
    rounds: 0,
    wrongSinceMs: null,
    wrongAnswers: 0,
    warnedAtMs: null,
    ...change,
  };
}

/** Applies checks at hours after the start. @returns what changed at which hour */
function goThrough(
  begin: DomainProof,
  checks: readonly (readonly [hour: number, outcome: CheckOutcome])[],
): { proof: DomainProof; changes: [number, ProofChange][] } {
  const changes: [number, ProofChange][] = [];
  let now = begin;
  for (const [hour, outcome] of checks) {
    const decided = decideAfterCheck(now, outcome, START_MS + hour * HOUR_MS);
    now = decided.proof;
    if (decided.change !== undefined) changes.push([hour, decided.change]);
  }
  return { proof: now, changes };
}

const everyHour = (from: number, to: number, outcome: CheckOutcome): [number, CheckOutcome][] =>
  Array.from({ length: to - from + 1 }, (_, n) => [from + n, outcome]);

describe('The outcome of a check', () => {
  it.each([
    [['FOUND'], 'right'],
    [['MISSING'], 'wrong'],
    [['WRONG'], 'wrong'],
    [['UNANSWERED'], 'unanswered'],
    [['FOUND', 'UNANSWERED'], 'unanswered'],
    [['UNANSWERED', 'MISSING'], 'wrong'],
    [['FOUND', 'WRONG'], 'wrong'],
    [[], 'unanswered'],
  ] as const)('of %j is %s', (states, outcome) => {
    expect(checkOutcome(states)).toBe(outcome);
  });
});

describe('A domain that is not verified', () => {
  it.each(['PENDING', 'UNVERIFIED'] as const)('is verified by one right answer when it is %s', (status) => {
    const { proof: after, changes } = goThrough(proof(status, { rounds: 7 }), [[0, 'right']]);
    expect(after).toEqual(proof('VERIFIED'));
    expect(changes).toEqual([[0, 'verified']]);
  });

  it('does not change by any other answer, however often', () => {
    const { proof: after, changes } = goThrough(proof('PENDING'), [
      ...everyHour(0, 100, 'wrong'),
      [101, 'unanswered'],
    ]);
    expect(after).toEqual(proof('PENDING', { rounds: 102 }));
    expect(changes).toEqual([]);
  });
});

describe('A verified domain', () => {
  it('is warned after a day of wrong answers, and un-verified after three', () => {
    const { proof: after, changes } = goThrough(proof('VERIFIED'), everyHour(0, 100, 'wrong'));
    expect(changes).toEqual([
      [24, 'warned'],
      [72, 'unverified'],
    ]);
    expect(after.status).toBe('UNVERIFIED');
  });

  it('is not affected by a week of time-outs and SERVFAIL', () => {
    const { proof: after, changes } = goThrough(proof('VERIFIED'), everyHour(0, 168, 'unanswered'));
    expect(after.status).toBe('VERIFIED');
    expect(changes).toEqual([]);
  });

  it('is not affected by one or two NXDOMAIN, however long no answers follow', () => {
    for (const wrong of [1, 2]) {
      const { changes } = goThrough(proof('VERIFIED'), [
        ...everyHour(0, wrong - 1, 'wrong'),
        ...everyHour(wrong, 200, 'unanswered'),
      ]);
      expect(changes).toEqual([]);
    }
  });

  it('starts a new run after one right answer', () => {
    const { proof: after, changes } = goThrough(proof('VERIFIED'), [
      ...everyHour(0, 71, 'wrong'),
      [71.5, 'right'],
      ...everyHour(72, 95, 'wrong'),
    ]);
    expect(changes).toEqual([
      [24, 'warned'],
      [71.5, 'recovered'],
    ]);
    expect(after).toMatchObject({ status: 'VERIFIED', wrongSinceMs: START_MS + 72 * HOUR_MS });
  });

  it('is never un-verified without a warning a day before, even after a week without checks', () => {
    const { changes } = goThrough(proof('VERIFIED'), [[0, 'wrong'], ...everyHour(168, 200, 'wrong')]);
    expect(changes).toEqual([
      [169, 'warned'],
      [193, 'unverified'],
    ]);
  });

  it('is un-verified by no fewer than six wrong answers, however far apart they are', () => {
    const { changes } = goThrough(
      proof('VERIFIED'),
      [0, 40, 80, 120, 160, 200].map((hour): [number, CheckOutcome] => [hour, 'wrong']),
    );
    expect(changes).toEqual([
      [80, 'warned'],
      [200, 'unverified'],
    ]);
  });

  it('continues a run across missing answers', () => {
    const { changes } = goThrough(proof('VERIFIED'), [
      ...everyHour(0, 30, 'wrong'),
      ...everyHour(31, 71, 'unanswered'),
      [72, 'wrong'],
    ]);
    expect(changes).toEqual([
      [24, 'warned'],
      [72, 'unverified'],
    ]);
  });

  it('that an operator vouches for stays verified whatever is answered', () => {
    const vouched = proof('VERIFIED', { isVouched: true });
    const { proof: after, changes } = goThrough(vouched, everyHour(0, 200, 'wrong'));
    expect(after).toEqual({ ...vouched, rounds: 201 });
    expect(changes).toEqual([]);
  });

  it('may be sent from until it is un-verified', () => {
    const may = (Object.keys(IDENTITY_STATUSES) as IdentityStatus[]).filter(maySendFrom);
    expect(may).toEqual(['VERIFIED', 'AT_RISK']);
  });
});

describe('The next check', () => {
  it('of a verified domain comes after 6 h, sooner after a wrong or missing answer', () => {
    const pauses = (['right', 'wrong', 'unanswered'] as const).map((outcome) =>
      nextCheckAfterSeconds(proof('VERIFIED', { rounds: 500 }), outcome),
    );
    expect(pauses).toEqual([21_600, 3_600, 1_800]);
    expect(nextCheckAfterSeconds(proof('AT_RISK'), 'wrong')).toBe(3_600);
  });

  it('of another one backs off from a minute to 12 h, and ends after four weeks', () => {
    const pauses = Array.from({ length: 70 }, (_, rounds) =>
      nextCheckAfterSeconds(proof('PENDING', { rounds }), 'wrong'),
    );
    expect(pauses.slice(0, 11)).toEqual([
      60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200,
    ]);
    const known = pauses.filter((pause) => pause !== null);
    expect(known.reduce((sum, pause) => sum + pause, 0) / 86_400).toBeCloseTo(28.7, 1);
    expect(pauses.at(-1)).toBeNull();
  });
});

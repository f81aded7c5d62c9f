import type { IdentityStatus } from './identity-status.ts';
import type { RecordState } from './record-verdict.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const HOUR_MS = HOUR * 1_000;

/** What is known of a domain's proof from the checks so far. */
export interface DomainProof {
  readonly status: IdentityStatus;
  /** An operator vouches for it: whatever the DNS says, it stays verified. */
  readonly isVouched: boolean;
  /** How many checks there were since it was added, asked for by hand, or changed its status. */
  readonly rounds: number;
  /** When the first of an unbroken run of definite wrong answers came; null while there is none. */
  readonly wrongSinceMs: number | null;
  /** How many there were in that run. */
  readonly wrongAnswers: number;
  /** When it became `AT_RISK` in that run. */
  readonly warnedAtMs: number | null;
}

/** What a check found of the required record: a definite yes, a definite no, or nothing definite. */
export type CheckOutcome = 'right' | 'wrong' | 'unanswered';

/** What happens to a domain at a check, beside what is written down of it. */
export type ProofChange = 'verified' | 'warned' | 'recovered' | 'unverified';

/** A verified domain loses that after so long a run of definite wrong answers, and never sooner after its warning than this. */
export const PROOF_LIMITS = {
  warnedAfterMs: 24 * HOUR_MS,
  /** One wrong answer, or two, may be a name server's slip. */
  warnedAfterAnswers: 3,
  unverifiedAfterMs: 72 * HOUR_MS,
  unverifiedAfterAnswers: 6,
  unverifiedAfterWarningMs: 24 * HOUR_MS,
} as const;

/** The outcome of a check by what became of the required records. */
export function checkOutcome(required: readonly RecordState[]): CheckOutcome {
  if (required.every((state) => state === 'FOUND')) return 'right';
  return required.some((state) => state === 'MISSING' || state === 'WRONG') ? 'wrong' : 'unanswered';
}

/**
 * What a check means for a domain. A time-out or SERVFAIL neither begins nor ends nor prolongs a run of wrong answers.
 *
 * @param nowMs the database's time
 */
export function decideAfterCheck(
  proof: DomainProof,
  outcome: CheckOutcome,
  nowMs: number,
): { readonly proof: DomainProof; readonly change?: ProofChange } {
  const rounds = proof.rounds + 1;
  if (outcome === 'unanswered') return { proof: { ...proof, rounds } };
  if (outcome === 'right') return afterRight(proof, rounds);
  if (proof.isVouched || proof.status === 'PENDING' || proof.status === 'UNVERIFIED')
    return { proof: { ...proof, rounds } };
  return afterWrong(proof, rounds, nowMs);
}

const NO_RUN = { wrongSinceMs: null, wrongAnswers: 0, warnedAtMs: null } as const;

function afterRight(proof: DomainProof, rounds: number): ReturnType<typeof decideAfterCheck> {
  if (proof.status === 'VERIFIED') return { proof: { ...proof, ...NO_RUN, rounds } };
  const verified: DomainProof = { ...proof, ...NO_RUN, status: 'VERIFIED', rounds: 0 };
  return { proof: verified, change: proof.status === 'AT_RISK' ? 'recovered' : 'verified' };
}

function afterWrong(proof: DomainProof, rounds: number, nowMs: number): ReturnType<typeof decideAfterCheck> {
  const wrongSinceMs = proof.wrongSinceMs ?? nowMs;
  const run = { ...proof, rounds, wrongSinceMs, wrongAnswers: proof.wrongAnswers + 1 };
  if (isWarningDue(run, nowMs)) {
    return { proof: { ...run, status: 'AT_RISK', rounds: 0, warnedAtMs: nowMs }, change: 'warned' };
  }
  if (isEndDue(run, nowMs)) {
    return { proof: { ...run, ...NO_RUN, status: 'UNVERIFIED', rounds: 0 }, change: 'unverified' };
  }
  return { proof: run };
}

type Run = DomainProof & { readonly wrongSinceMs: number };

function isWarningDue({ warnedAtMs, wrongSinceMs, wrongAnswers }: Run, nowMs: number): boolean {
  const { warnedAfterMs, warnedAfterAnswers } = PROOF_LIMITS;
  return warnedAtMs === null && nowMs - wrongSinceMs >= warnedAfterMs && wrongAnswers >= warnedAfterAnswers;
}

function isEndDue({ warnedAtMs, wrongSinceMs, wrongAnswers }: Run, nowMs: number): boolean {
  const { unverifiedAfterMs, unverifiedAfterAnswers, unverifiedAfterWarningMs } = PROOF_LIMITS;
  return (
    warnedAtMs !== null &&
    nowMs - warnedAtMs >= unverifiedAfterWarningMs &&
    nowMs - wrongSinceMs >= unverifiedAfterMs &&
    wrongAnswers >= unverifiedAfterAnswers
  );
}

/** How often a verified domain is looked at, in seconds: while all is well, while the answers are wrong, while there are none. */
const VERIFIED_CHECKS = { right: 6 * HOUR, wrong: HOUR, unanswered: 30 * MINUTE } as const;

/** After which pauses a domain that waits to be verified is looked at, in seconds: often while somebody sets its records. */
const WAITING_CHECKS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8].map((hours) => hours * HOUR),
  ...Array<number>(56).fill(12 * HOUR),
];

/**
 * After how many seconds a domain is looked at again; null: not before somebody asks, because nobody has set its record for
 * four weeks.
 */
export function nextCheckAfterSeconds(proof: DomainProof, outcome: CheckOutcome): number | null {
  if (proof.status === 'VERIFIED' || proof.status === 'AT_RISK') return VERIFIED_CHECKS[outcome];
  return waitingCheckAfterSeconds(proof);
}

/** The same where a record that somebody is to set is waited for, whatever the domain's status. */
export function waitingCheckAfterSeconds({ rounds }: Pick<DomainProof, 'rounds'>): number | null {
  return WAITING_CHECKS[rounds] ?? null;
}

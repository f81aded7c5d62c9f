import type { IdentityStatus } from './identity-status.ts';
import type { RecordState } from './record-state.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const HOUR_MS = HOUR * 1_000;

/** The state of a domain's verification after the checks so far. */
export interface DomainProof {
  readonly status: IdentityStatus;
  /** An operator vouches for the domain: it stays verified, whatever the DNS says. */
  readonly isVouched: boolean;
  /** The number of checks since it was added, checked by hand, or changed its status. */
  readonly rounds: number;
  /** The time of the first of a run of consecutive wrong answers; null: there is no run. */
  readonly wrongSinceMs: number | null;
  /** The number of wrong answers in the run. */
  readonly wrongAnswers: number;
  /** When it became `AT_RISK` in that run. */
  readonly warnedAtMs: number | null;
}

/** The outcome of a check of the required records: right, wrong, or unknown because no name server gave an answer. */
export type CheckOutcome = 'right' | 'wrong' | 'unanswered';

/** A change of a domain by a check that is audited and notified. */
export type ProofChange = 'verified' | 'warned' | 'recovered' | 'unverified';

/** Why the editors of a workspace get a notice about a domain. */
export type DomainNotice = 'AT_RISK' | 'UNVERIFIED';

/** When a run of wrong answers leads to a warning, and then ends the verification. */
export const PROOF_LIMITS = {
  warnedAfterMs: 24 * HOUR_MS,
  /** One or two wrong answers may be an error of a name server. */
  warnedAfterAnswers: 3,
  unverifiedAfterMs: 72 * HOUR_MS,
  unverifiedAfterAnswers: 6,
  unverifiedAfterWarningMs: 24 * HOUR_MS,
} as const;

/** The outcome of a check, from the states of the required records. Where none is required, nothing has proved the domain. */
export function checkOutcome(required: readonly RecordState[]): CheckOutcome {
  if (required.length > 0 && required.every((state) => state === 'FOUND')) return 'right';
  return required.some((state) => state === 'MISSING' || state === 'WRONG') ? 'wrong' : 'unanswered';
}

/**
 * Decides what a check changes. A time-out or SERVFAIL neither starts, ends nor extends a run of wrong answers.
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

/**
 * When the records of new keys are first looked up, unless somebody requests it. Nobody can have set them before, and name servers would
 * remember that there were none, often for an hour (RFC 2308, section 5), in which whoever has set them cannot verify the domain.
 */
export const FIRST_CHECK_AFTER_SECONDS = 10 * MINUTE;

/** The interval of the checks of a verified domain, in seconds, by the last outcome. */
const VERIFIED_CHECKS = { right: 6 * HOUR, wrong: HOUR, unanswered: 30 * MINUTE } as const;

/** The delays between checks of a domain that is not verified, in seconds: short at first, while somebody is setting its records. */
const WAITING_CHECKS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8].map((hours) => hours * HOUR),
  ...Array<number>(56).fill(12 * HOUR),
];

/**
 * The delay before the next check of a domain, in seconds; null: not before somebody requests one, because the record was not set
 * within four weeks.
 */
export function nextCheckAfterSeconds(proof: DomainProof, outcome: CheckOutcome): number | null {
  if (proof.status === 'VERIFIED' || proof.status === 'AT_RISK') return VERIFIED_CHECKS[outcome];
  return waitingCheckAfterSeconds(proof);
}

/** The same while a record is waited for, whatever the status of the domain. */
export function waitingCheckAfterSeconds({ rounds }: Pick<DomainProof, 'rounds'>): number | null {
  return WAITING_CHECKS[rounds] ?? null;
}

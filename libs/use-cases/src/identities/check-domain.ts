import {
  type Actor,
  checkOutcome,
  decideAfterCheck,
  type DomainKey,
  type DomainProof,
  keysAfterCheck,
  nextCheckAfterSeconds,
  type ProofChange,
  type RecordFindings,
  type RecordState,
  propagatedAfterSeconds,
  type StagedKey,
  waitingCheckAfterSeconds,
  type ExpectedRecord,
  expectedRecords,
} from '@posthorn/domain';
import { type ClaimedDomain, type DomainCheckStore, stagedKey } from '@posthorn/database';
import { FindRecords } from './find-records.ts';
import type { TxtResolver } from './txt-resolver.ts';

/** Much longer than a check takes; a process that has not finished by then has died. */
export const CHECK_LEASE_SECONDS = 120;
/** The fraction of its interval by which a check is randomly shifted, so that domains added together are not checked together. */
const JITTER = 0.1;

interface CheckDomainOptions {
  readonly checks: Pick<DomainCheckStore, 'record'>;
  readonly resolver: TxtResolver;
  /** What SPF records must include; undefined when the operator has not configured it. */
  readonly spfInclude: string | undefined;
  readonly clock: { nowMs(): number };
  /** Called with a change of a domain once it is committed. */
  readonly onChange?: (change: ProofChange, domain: ClaimedDomain) => void;
}

/** Looks up the DNS records of a domain, decides what they mean for it, and saves the result. */
export class CheckDomain {
  private readonly records: FindRecords;

  constructor(private readonly options: CheckDomainOptions) {
    this.records = new FindRecords(options.resolver);
  }

  /** @returns whether the result was saved: it is not when a later check was saved before, or an operator vouched for the domain */
  async check(domain: ClaimedDomain, actor: Actor): Promise<boolean> {
    const { checks, clock, spfInclude, onChange } = this.options;
    const wanted = expectedRecords(domain.value, domain.keys, spfInclude);
    const findings = await this.records.find(domain.value, wanted);
    const nowMs = clock.nowMs();
    const states = statesOfKeys(domain, wanted, findings);
    const keys = keysAfterCheck(domain.keys.map(stagedKey), ({ id }) => states.get(id)!, nowMs);
    // A key that this check has made the current one is among those required to verify the domain.
    const required = keys.filter(({ algorithm, stage }) => algorithm === 'rsa' && stage === 'CURRENT');
    const outcome = checkOutcome(required.map(({ id }) => states.get(id)!));
    const { proof, change } = decideAfterCheck(proofOf(domain), outcome, nowMs);
    const pause = soonest(nextCheckAfterSeconds(proof, outcome), ...rotationPauses(keys, proof, nowMs));
    const isRecorded = await checks.record(domain, actor, {
      findings,
      proof,
      keys,
      change,
      nextCheckAfterSeconds: pause === null ? null : Math.round(pause * (1 + JITTER * Math.random())),
    });
    if (isRecorded && change !== undefined) onChange?.(change, domain);
    return isRecorded;
  }
}

/** What was found of each key's record, by the key's id. */
function statesOfKeys(
  { keys }: ClaimedDomain,
  wanted: readonly ExpectedRecord[],
  findings: RecordFindings,
): Map<string, RecordState> {
  const nameOf = (key: DomainKey): string => wanted.find((record) => record.key === key)!.name;
  return new Map(keys.map((key) => [key.id, findings[nameOf(key)]!.state]));
}

/** The intervals of checks while a rotation waits for the records of the new keys. */
function rotationPauses(keys: readonly StagedKey[], proof: DomainProof, nowMs: number): (number | null)[] {
  const isAwaited = keys.some(({ algorithm, stage }) => algorithm === 'rsa' && stage === 'NEXT');
  return [propagatedAfterSeconds(keys, nowMs), isAwaited ? waitingCheckAfterSeconds(proof) : null];
}

function soonest(...pauses: readonly (number | null)[]): number | null {
  const known = pauses.filter((pause) => pause !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function proofOf({ status, isVouched, check }: ClaimedDomain): DomainProof {
  const { rounds, wrongAnswers } = check;
  return {
    status,
    isVouched,
    rounds,
    wrongAnswers,
    wrongSinceMs: check.wrongSince?.getTime() ?? null,
    warnedAtMs: check.warnedAt?.getTime() ?? null,
  };
}

import {
  type Actor,
  checkOutcome,
  decideAfterCheck,
  type DomainProof,
  type KeyProof,
  keyProofAfter,
  nearestAnswer,
  nextCheckAfterSeconds,
  type ProofChange,
  recordFinding,
  type RecordFindings,
  type TxtAnswer,
  type WantedRecord,
  wantedRecords,
} from '@posthorn/domain';
import { type ClaimedDomain, type DomainCheckStore } from '@posthorn/database';

/** A check is spread over this part of its pause, so that domains that were added together are not asked for together. */
const JITTER = 0.1;

export interface CheckDomainOptions {
  readonly checks: Pick<DomainCheckStore, 'record'>;
  readonly resolver: { lookUpTxt(name: string): Promise<TxtAnswer> };
  /** What SPF records must include; undefined: the operator has not said. */
  readonly spfInclude: string | undefined;
  readonly clock: { nowMs(): number };
  /**
   * Tells a workspace what is about to happen to its domain. Awaited before that is written down, and called again when it was not:
   * whoever it tells must hear it once.
   */
  readonly tell: (change: ProofChange, domain: ClaimedDomain) => Promise<void>;
}

/** Looks at the records of a domain, decides what that means, and writes it down. */
export class CheckDomain {
  constructor(private readonly options: CheckDomainOptions) {}

  /** @returns whether it was written down: not when somebody looked later, or vouched for the domain */
  async check(domain: ClaimedDomain, actor: Actor): Promise<boolean> {
    const { checks, clock, spfInclude, tell } = this.options;
    const wanted = wantedRecords(domain.value, domain.keys, spfInclude);
    const findings = await this.lookUp(wanted);
    const required = wanted.filter(({ isRequired }) => isRequired);
    const outcome = checkOutcome(required.map(({ name }) => findings[name]!.state));
    const nowMs = clock.nowMs();
    const { proof, change } = decideAfterCheck(proofOf(domain), outcome, nowMs);
    const keyProofs = keyProofsAfter(domain, wanted, findings, nowMs);
    if (change !== undefined) await tell(change, domain);
    const pause = nextCheckAfterSeconds(proof, outcome);
    return checks.record(domain, actor, {
      ...{ findings, proof, keyProofs, change },
      nextCheckAfterSeconds: pause === null ? null : Math.round(pause * (1 + JITTER * Math.random())),
    });
  }

  /** All at once: none waits for a name server of another. */
  private async lookUp(wanted: readonly WantedRecord[]): Promise<RecordFindings> {
    const { resolver } = this.options;
    const found = wanted.map(async (record) => {
      const names = [record.name, ...record.alsoAt];
      const answers = await Promise.all(names.map((name) => resolver.lookUpTxt(name)));
      return [record.name, recordFinding(record, nearestAnswer(answers))] as const;
    });
    return Object.fromEntries(await Promise.all(found));
  }
}

function keyProofsAfter(
  { keys }: ClaimedDomain,
  wanted: readonly WantedRecord[],
  findings: RecordFindings,
  nowMs: number,
): Map<string, KeyProof> {
  return new Map(
    keys.map((key) => {
      const { name } = wanted.find((record) => record.key === key)!;
      const before = {
        publishedAtMs: key.publishedAt?.getTime() ?? null,
        wrongSinceMs: key.wrongSince?.getTime() ?? null,
      };
      return [key.id, keyProofAfter(before, findings[name]!.state, nowMs)];
    }),
  );
}

function proofOf({ status, isVouched, check }: ClaimedDomain): DomainProof {
  const { rounds, wrongAnswers } = check;
  return {
    ...{ status, isVouched, rounds, wrongAnswers },
    wrongSinceMs: check.wrongSince?.getTime() ?? null,
    warnedAtMs: check.warnedAt?.getTime() ?? null,
  };
}

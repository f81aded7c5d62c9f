import { type ErrorBody, Refusal } from '@posthorn/kernel';
import type { EmailDraft } from '@posthorn/domain';
import type { AcceptableEmail, AcceptanceOutcome, KnownAnswer } from '@posthorn/database';
import { emailAnswer } from './email-answer.ts';
import { fingerprintOf } from './prepare-email.ts';
import { keyReused, refusalOf, type RefusedOutcome } from './refusals.ts';

export interface BatchItem {
  /** A refusal: the item is malformed. */
  readonly draft: EmailDraft | Refusal;
  /** The recipient as the caller wrote it; null when there is none to show. */
  readonly to: string | null;
}

/** An item before its group is decided: an email to accept, the answer known for its idempotency key, or its refusal. */
export type PreparedItem = AcceptableEmail | KnownAnswer | Refusal;

/** The answer to a batch, built when its emails have been decided. */
export class BatchAnswer {
  /** The emails to be decided, in the order of their items. */
  readonly emails: readonly AcceptableEmail[];

  constructor(
    private readonly items: readonly BatchItem[],
    private readonly prepared: readonly PreparedItem[],
    private readonly errorBodyOf: (refusal: Refusal) => ErrorBody,
  ) {
    this.emails = prepared.filter(isEmail);
  }

  /**
   * The answer as JSON; or the refusal of the whole batch, if the monthly limit refuses some item and no item succeeds, now or by a replay. As the limit is
   * checked last (rule G5), a batch whose items all fail earlier checks is not refused as a whole.
   */
  jsonOrRefusal(outcomes: readonly AcceptanceOutcome[]): string | Refusal {
    const [successful, failed]: [string[], string[]] = [[], []];
    this.results(outcomes).forEach((result, index) => {
      if (typeof result === 'string') successful.push(result);
      else failed.push(this.failure(index, result));
    });
    const overLimit = outcomes.findIndex(({ kind }) => kind === 'over_limit');
    if (overLimit >= 0 && successful.length === 0)
      return refusalOf(outcomes[overLimit] as RefusedOutcome, this.emails[overLimit]!);
    return `{"emails":{"successful":[${successful.join(',')}],"failed":[${failed.join(',')}]}}`;
  }

  /** For each item, the JSON of its Email object, or its refusal. */
  private results(outcomes: readonly AcceptanceOutcome[]): (string | Refusal)[] {
    const answered = new Map<string, KnownAnswer>();
    let position = 0;
    return this.prepared.map((prepared, index) => {
      const email = isEmail(prepared) ? prepared : undefined;
      const result = this.resultOf(index, prepared, email && outcomes[position++]!, answered);
      const claim = email?.idempotency;
      if (typeof result === 'string' && claim !== undefined)
        answered.set(claim.key, { fingerprint: claim.fingerprint, answer: result });
      return result;
    });
  }

  /**
   * The JSON of the item's Email object, or its refusal.
   *
   * @param answered the answers of earlier items by idempotency key: a replay takes precedence over errors of time and template (rule G5)
   */
  private resultOf(
    index: number,
    prepared: PreparedItem,
    outcome: AcceptanceOutcome | undefined,
    answered: ReadonlyMap<string, KnownAnswer>,
  ): string | Refusal {
    if (prepared instanceof Refusal) {
      const key = this.keyOf(index);
      const known = key === undefined ? undefined : answered.get(key);
      return known === undefined ? prepared : this.replayed(index, known);
    }
    if (!isEmail(prepared)) return this.replayed(index, prepared);
    if (outcome!.kind === 'accepted') return emailAnswer(prepared);
    if (outcome!.kind === 'replayed') return this.replayed(index, outcome!);
    return refusalOf(outcome!, prepared);
  }

  /** Undefined also for a malformed item, whose refusal takes precedence over a replay. */
  private keyOf(index: number): string | undefined {
    const { draft } = this.items[index]!;
    return draft instanceof Refusal ? undefined : draft.idempotencyKey;
  }

  private replayed(index: number, known: KnownAnswer): string | Refusal {
    const { fingerprintSource } = this.items[index]!.draft as EmailDraft;
    const isSame = known.fingerprint.equals(fingerprintOf(fingerprintSource));
    return isSame ? known.answer : keyReused(known.answer);
  }

  private failure(index: number, refusal: Refusal): string {
    return JSON.stringify({ index, to: this.items[index]!.to, error: this.errorBodyOf(refusal) });
  }
}

function isEmail(prepared: PreparedItem): prepared is AcceptableEmail {
  return 'id' in prepared;
}

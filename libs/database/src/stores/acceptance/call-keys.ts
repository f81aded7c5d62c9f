import {
  type AcceptableCall,
  type AcceptanceOutcome,
  type CallOutcome,
  monthOf,
} from './acceptable-email.ts';
import { type IdempotencyKeys, keyOf, type NumberedClaim } from './idempotency-keys.ts';

const RETRY: CallOutcome = { kind: 'retry' };

/** The idempotency keys of the calls of a group. Of several calls with the same key only the first is decided; the others get its answer, or share its refusal. */
export class CallKeys {
  private readonly claims: readonly NumberedClaim[];
  /** The outcomes of the calls that are not decided, by their index. */
  private readonly undecided: (CallOutcome | undefined)[] = [];
  /** By the index of a call that repeats the key of an earlier call: the index of that call. */
  private readonly repeats = new Map<number, number>();

  constructor(
    private readonly calls: readonly AcceptableCall[],
    private readonly keys: IdempotencyKeys,
  ) {
    this.claims = calls.flatMap(({ workspaceId, idempotency: claim }, n) =>
      claim === undefined ? [] : [{ n, workspaceId, claim }],
    );
  }

  /** Whether the emails of a call are to be decided. */
  isOpen(index: number): boolean {
    return this.undecided[index] === undefined;
  }

  /** Takes the keys, and closes the calls whose key is taken already. */
  async take(): Promise<void> {
    if (this.claims.length === 0) return;
    this.deferRepeats();
    const claims = this.claims.filter(({ n }) => this.isOpen(n));
    const { taken, known } = await this.keys.take(claims);
    for (const { n } of claims) {
      if (taken.has(n)) continue;
      const answer = known.get(n);
      this.undecided[n] = answer === undefined ? RETRY : { kind: 'replayed', ...answer };
    }
  }

  /**
   * Stores the answers of calls under their keys, and gives back the keys of refused calls.
   *
   * @param outcomesOf gives the outcomes of the emails of an open call
   * @returns the outcomes in the order of the calls
   */
  async answer(outcomesOf: (index: number) => AcceptanceOutcome[]): Promise<CallOutcome[]> {
    const outcomes = this.calls.map(({ idempotency }, index): CallOutcome => {
      const undecided = this.undecided[index];
      if (undecided !== undefined) return undecided;
      const emails = outcomesOf(index);
      return { kind: 'decided', emails, answer: idempotency?.answerFor(emails) };
    });
    for (const [index, first] of this.repeats)
      outcomes[index] = this.repeated(index, first, outcomes[first]!);
    const answers = this.claims.flatMap(({ n, workspaceId, claim }): NumberedClaim[] => {
      const outcome = outcomes[n]!;
      return outcome.kind === 'decided'
        ? [{ n, workspaceId, claim: { ...claim, answer: outcome.answer } }]
        : [];
    });
    await this.keys.answer(answers.filter(({ claim }) => claim.answer !== undefined));
    await this.keys.giveBack(answers.filter(({ claim }) => claim.answer === undefined));
    return outcomes;
  }

  /**
   * Defers calls that share a key with an earlier call of this group, if it is the call key of either of them: whether a call key is used up is known only when
   * all emails of the call have been decided. The first call of a group is never deferred.
   */
  private deferRepeats(): void {
    const [ofCalls, ofEmails] = [new Map<string, number>(), new Set<string>()];
    this.calls.forEach(({ workspaceId, emails, idempotency }, index) => {
      const own = idempotency && keyOf(workspaceId, idempotency);
      const keys = emails.flatMap(({ idempotency: claim }) => (claim ? [keyOf(workspaceId, claim)] : []));
      const first = own === undefined ? undefined : ofCalls.get(own);
      if (first !== undefined) this.repeats.set(index, first);
      const isWanted = own !== undefined && (first !== undefined || ofEmails.has(own));
      if (isWanted || keys.some((key) => ofCalls.has(key))) {
        this.undecided[index] = RETRY;
        return;
      }
      if (own !== undefined) ofCalls.set(own, index);
      keys.forEach((key) => ofEmails.add(key));
    });
  }

  /** The outcome of a call that repeats the key of an earlier one. */
  private repeated(index: number, first: number, outcome: CallOutcome): CallOutcome {
    if (outcome.kind === 'replayed') return outcome;
    if (outcome.kind !== 'decided') return RETRY;
    const [call, before] = [this.calls[index]!, this.calls[first]!];
    if (outcome.answer === undefined) return wouldBeRefusedWith(call, before) ? outcome : RETRY;
    return { kind: 'replayed', fingerprint: before.idempotency!.fingerprint, answer: outcome.answer };
  }
}

/** Whether a call shares the refusal of an earlier one; otherwise, of many such calls only one would be decided per group. */
function wouldBeRefusedWith(call: AcceptableCall, refused: AcceptableCall): boolean {
  return (
    call.emails.length === refused.emails.length &&
    call.idempotency!.fingerprint.equals(refused.idempotency!.fingerprint) &&
    monthOf(call.emails[0]!) === monthOf(refused.emails[0]!)
  );
}

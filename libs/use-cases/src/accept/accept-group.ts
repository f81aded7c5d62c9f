import { type EmailId, Refusal, sleep } from '@posthorn/kernel';
import {
  type AcceptableCall,
  type AcceptanceOutcome,
  type AcceptanceStore,
  type CallOutcome,
  type DatabaseFault,
  faultOf,
} from '@posthorn/database';
import { unavailable } from './refusals.ts';

const CONFLICT_TRIES = 3;
/** After this long of not knowing whether a group was committed the callers are told to ask again. */
const UNSURE_AFTER_MS = 5_000;
const LOOK_AGAIN_MS = 200;

/**
 * Accepts a group whatever happens to its transaction: refused data is judged item by item, a conflict is tried again, and a
 * COMMIT whose answer was lost is resolved. That is safe because the ids were made before the first try: while the
 * old transaction is undecided, inserting the same ids waits for it, and once it is committed they are found.
 */
export class AcceptGroup {
  constructor(
    private readonly store: Pick<AcceptanceStore, 'accept' | 'findAccepted'>,
    private readonly monthlyLimit: number | null,
  ) {}

  /**
   * The outcome of each call, in their order.
   *
   * @throws Refusal (503) when the database cannot be reached, or does not say within five seconds
   */
  async accept(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.store.accept(calls, this.monthlyLimit);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === 'conflict' && tries < CONFLICT_TRIES) continue;
        return this.afterFault(fault, error, calls);
      }
    }
  }

  private async afterFault(
    fault: DatabaseFault,
    error: unknown,
    calls: readonly AcceptableCall[],
  ): Promise<CallOutcome[]> {
    if (fault === 'lost') return this.resolveLost(calls);
    if (fault === 'locked' || fault === 'conflict') return this.acceptByWorkspace(error, calls);
    if (fault === 'unavailable') throw unavailable(error);
    if (fault === 'data' && calls.length > 1) return this.acceptOneByOne(calls);
    throw error;
  }

  /** A workspace whose usage or key somebody holds, or whose batches want each other's keys, must not fail the others of its group. */
  private async acceptByWorkspace(cause: unknown, calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const parts = [...Map.groupBy(calls, (call) => call.workspaceId).values()];
    if (parts.length === 1) throw unavailable(cause);
    const outcomes = await Promise.all(parts.map((part) => this.acceptPart(part)));
    const outcomeOf = new Map(parts.flatMap((part, n) => part.map((call, m) => [call, outcomes[n]![m]!])));
    return calls.map((call) => outcomeOf.get(call)!);
  }

  /** One call's refused data must not fail the others of its group. */
  private async acceptOneByOne(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const outcomes: CallOutcome[] = [];
    for (const call of calls) {
      const [outcome] = await this.acceptPart([call]);
      outcomes.push(outcome!);
      // Out of reach by now: whoever is left need not find that out one after the other.
      if (outcome!.kind === 'failed' && outcome!.error instanceof Refusal) break;
    }
    return calls.map((_call, index) => outcomes[index] ?? outcomes.at(-1)!);
  }

  /** Accepts a part of a group; what it fails with is the outcome of each of its calls, and of no others. */
  private async acceptPart(part: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    try {
      return await this.accept(part);
    } catch (error) {
      return part.map((): CallOutcome => ({ kind: 'failed', error }));
    }
  }

  private async resolveLost(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const deadline = performance.now() + UNSURE_AFTER_MS;
    let lastError: unknown;
    while (performance.now() < deadline) {
      try {
        const found = await this.store.findAccepted(
          calls.flatMap(({ emails }) => emails.map(({ id }) => id)),
        );
        return await this.completeLost(calls, found);
      } catch (error) {
        // `data` here is the primary key: the old transaction was committed after all, and the next look finds it.
        if (faultOf(error) === 'other') throw error;
        lastError = error;
        await sleep(LOOK_AGAIN_MS);
      }
    }
    throw unavailable(lastError);
  }

  /**
   * Emails that are there were accepted; the others were refused, or the whole never happened: they are judged again. A call with
   * a key of its own comes again as a whole: if it was committed, its key says what it was answered.
   */
  private async completeLost(
    calls: readonly AcceptableCall[],
    found: ReadonlySet<EmailId>,
  ): Promise<CallOutcome[]> {
    const rest = calls.map((call) => (call.idempotency === undefined ? withoutFound(call, found) : call));
    const open = rest.filter(({ emails, idempotency }) => emails.length > 0 || idempotency !== undefined);
    const judged = open.length === 0 ? [] : await this.store.accept(open, this.monthlyLimit);
    const outcomeOf = new Map(open.map((call, index) => [call, judged[index]!]));
    return calls.map((call, index) => completed(call, found, outcomeOf.get(rest[index]!)));
  }
}

function withoutFound(call: AcceptableCall, found: ReadonlySet<EmailId>): AcceptableCall {
  return { ...call, emails: call.emails.filter(({ id }) => !found.has(id)) };
}

/** The outcome of a call of which some emails were found and the rest was judged now. */
function completed(
  { emails, idempotency }: AcceptableCall,
  found: ReadonlySet<EmailId>,
  rest: CallOutcome | undefined,
): CallOutcome {
  if (idempotency !== undefined || (rest !== undefined && rest.kind !== 'judged')) return rest!;
  const judged = [...(rest?.emails ?? [])];
  return {
    kind: 'judged',
    emails: emails.map(({ id }): AcceptanceOutcome =>
      found.has(id) ? { kind: 'accepted' } : judged.shift()!,
    ),
  };
}

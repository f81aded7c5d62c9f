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

const MAX_CONFLICT_ATTEMPTS = 3;
/** When it is still unknown after this time whether a group was committed, callers get a 503. */
const MAX_UNCERTAIN_MS = 5_000;
const POLL_MS = 200;

/**
 * Accepts a group of calls despite faults of its transaction: when the database rejects data, call by call; after a conflict, again; and when the answer to
 * the COMMIT was lost, it finds out whether that took effect. Retrying is safe because the ids were created before the first attempt: while the old
 * transaction is undecided, inserting the same ids waits for it, and once it is committed they are found.
 */
export class ResilientAcceptance {
  constructor(
    private readonly store: Pick<AcceptanceStore, 'accept' | 'findAccepted'>,
    private readonly monthlyLimit: number | null,
  ) {}

  /**
   * The outcome of each call, in the same order.
   *
   * @throws Refusal (503) when the database is unreachable, or the outcome still unknown after five seconds
   */
  async accept(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.store.accept(calls, this.monthlyLimit);
      } catch (error) {
        const fault = faultOf(error);
        if (fault === 'conflict' && tries < MAX_CONFLICT_ATTEMPTS) continue;
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

  /** A workspace whose usage row or key is locked, or whose batches conflict over keys, must not fail the others of the group. */
  private async acceptByWorkspace(cause: unknown, calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const parts = [...Map.groupBy(calls, (call) => call.workspaceId).values()];
    if (parts.length === 1) throw unavailable(cause);
    const outcomes = await Promise.all(parts.map((part) => this.acceptPart(part)));
    const outcomeOf = new Map(parts.flatMap((part, n) => part.map((call, m) => [call, outcomes[n]![m]!])));
    return calls.map((call) => outcomeOf.get(call)!);
  }

  /** Rejected data of one call must not fail the others of the group. */
  private async acceptOneByOne(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const outcomes: CallOutcome[] = [];
    for (const call of calls) {
      const [outcome] = await this.acceptPart([call]);
      outcomes.push(outcome!);
      // The database has become unreachable: the remaining calls fail in the same way, without waiting for that one by one.
      if (outcome!.kind === 'failed' && outcome!.error instanceof Refusal) break;
    }
    return calls.map((_call, index) => outcomes[index] ?? outcomes.at(-1)!);
  }

  /** Accepts a part of a group; an error becomes the outcome of all calls of this part. */
  private async acceptPart(part: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    try {
      return await this.accept(part);
    } catch (error) {
      return part.map((): CallOutcome => ({ kind: 'failed', error }));
    }
  }

  private async resolveLost(calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const deadline = performance.now() + MAX_UNCERTAIN_MS;
    let lastError: unknown;
    while (performance.now() < deadline) {
      try {
        const found = await this.store.findAccepted(
          calls.flatMap(({ emails }) => emails.map(({ id }) => id)),
        );
        return await this.completeLost(calls, found);
      } catch (error) {
        // `data` here means a violated primary key: the old transaction was committed after all, and the next query finds it.
        if (faultOf(error) === 'other') throw error;
        lastError = error;
        await sleep(POLL_MS);
      }
    }
    throw unavailable(lastError);
  }

  /**
   * Emails that are found were accepted. The others were refused, or the whole transaction was rolled back: they are tried once more. A call with an
   * idempotency key is repeated as a whole: if it was committed, the key has its answer.
   */
  private async completeLost(
    calls: readonly AcceptableCall[],
    found: ReadonlySet<EmailId>,
  ): Promise<CallOutcome[]> {
    const rest = calls.map((call) => (call.idempotency === undefined ? withoutAccepted(call, found) : call));
    const open = rest.filter(({ emails, idempotency }) => emails.length > 0 || idempotency !== undefined);
    const retried = open.length === 0 ? [] : await this.store.accept(open, this.monthlyLimit);
    const outcomeOf = new Map(open.map((call, index) => [call, retried[index]!]));
    return calls.map((call, index) => completed(call, found, outcomeOf.get(rest[index]!)));
  }
}

function withoutAccepted(call: AcceptableCall, found: ReadonlySet<EmailId>): AcceptableCall {
  return { ...call, emails: call.emails.filter(({ id }) => !found.has(id)) };
}

/**
 * The outcome of a call of which some emails were found, and the rest were tried once more. If the rest would have to be repeated later, only a call of which
 * nothing was found is: a repeated call has new ids, so those that were found would be accepted twice.
 */
function completed(
  { emails, idempotency }: AcceptableCall,
  found: ReadonlySet<EmailId>,
  rest: CallOutcome | undefined,
): CallOutcome {
  if (idempotency !== undefined) return rest!;
  const retried = rest?.kind === 'decided' ? [...rest.emails] : [];
  if (rest !== undefined && rest.kind !== 'decided' && !emails.some(({ id }) => found.has(id))) return rest;
  return {
    kind: 'decided',
    emails: emails.map(({ id }): AcceptanceOutcome =>
      found.has(id) ? { kind: 'accepted' } : (retried.shift() ?? { kind: 'contended' }),
    ),
  };
}

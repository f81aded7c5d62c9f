import { type EmailId, sleep } from '@posthorn/kernel';
import {
  type AcceptableCall,
  type AcceptanceOutcome,
  type AcceptanceStore,
  type CallOutcome,
  faultOf,
  isOutage,
} from '@posthorn/database';
import { serveGroup } from '../serve-group.ts';
import { unavailable } from './refusals.ts';

/** When it is still unknown after this time whether a group was committed, callers get a 503. */
const MAX_UNCERTAIN_MS = 5_000;
const POLL_MS = 200;

/**
 * Accepts a group of calls despite faults of its transaction: those that `serveGroup` deals with, and when the answer to the COMMIT was lost, it finds out whether
 * that took effect. Retrying is safe because the ids were created before the first attempt: while the old transaction is undecided, inserting the same ids
 * waits for it, and once it is committed they are found.
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
    try {
      const outcomes = await serveGroup<AcceptableCall, CallOutcome>(calls, {
        serve: (some, lockTimeoutMs) => this.acceptTogether(some, lockTimeoutMs),
        lockedBy: ({ workspaceId }) => workspaceId,
      });
      return outcomes.map((outcome) =>
        outcome.kind === 'failed' ? { ...outcome, error: answerTo(outcome.error) } : outcome,
      );
    } catch (error) {
      throw answerTo(error);
    }
  }

  private async acceptTogether(
    calls: readonly AcceptableCall[],
    lockTimeoutMs?: number,
  ): Promise<CallOutcome[]> {
    try {
      return await this.store.accept(calls, this.monthlyLimit, lockTimeoutMs);
    } catch (error) {
      if (faultOf(error) === 'lost') return this.resolveLost(error, calls);
      throw error;
    }
  }

  private async resolveLost(lost: unknown, calls: readonly AcceptableCall[]): Promise<CallOutcome[]> {
    const deadline = performance.now() + MAX_UNCERTAIN_MS;
    while (performance.now() < deadline) {
      try {
        const found = await this.store.findAccepted(
          calls.flatMap(({ emails }) => emails.map(({ id }) => id)),
        );
        return await this.completeLost(calls, found);
      } catch (error) {
        // `data` here means a violated primary key: the old transaction was committed after all, and the next query finds it.
        if (faultOf(error) === 'other') throw error;
        await sleep(POLL_MS);
      }
    }
    throw lost;
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

function answerTo(error: unknown): unknown {
  return isOutage(error) ? unavailable(error) : error;
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

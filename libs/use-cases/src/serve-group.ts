import { type DatabaseFault, faultOf } from '@posthorn/database';

const MAX_CONFLICT_TRIES = 3;
/** How long the parts of a group may wait for locks, all together. */
const MAX_LOCK_WAIT_MS = 2_000;
/** In the second round, the few parts that were locked out wait longer: a row that is only busy must not fail its calls because the group has many parts. */
const ROUNDS = 2;

/** The outcome of a call that failed, unlike others of its group. */
export interface FailedCall {
  readonly kind: 'failed';
  readonly error: unknown;
}

interface GroupOptions<Call, Outcome> {
  /**
   * Serves calls in one transaction, which leaves no trace if it throws, unless the answer to the COMMIT was lost.
   *
   * @param lockTimeoutMs how long to wait for each lock; default: as long as any statement may
   */
  readonly serve: (calls: readonly Call[], lockTimeoutMs?: number) => Promise<Outcome[]>;
  /** What a call locks; calls with the same are locked out together. */
  readonly lockedBy: (call: Call) => unknown;
}

/**
 * Serves a group of calls, which share a transaction, despite its faults: it is repeated after a conflict; when the database rejects data, the calls are tried
 * one by one; and when something is locked, or the conflicts last, those that lock the same are.
 *
 * Parts are tried on one connection: all at once, hundreds of locked ones would take every connection from everybody else.
 *
 * @param lockTimeoutMs how long to wait for each lock; default: as long as any statement may
 * @returns the outcome of each call, in their order
 * @throws what `serve` throws for a group that has no parts of which some may succeed
 */
export async function serveGroup<Call, Outcome extends object>(
  calls: readonly Call[],
  options: GroupOptions<Call, Outcome>,
  lockTimeoutMs?: number,
): Promise<(Outcome | FailedCall)[]> {
  try {
    return await serveTogether(calls, options, lockTimeoutMs);
  } catch (error) {
    const parts = partsOf(calls, faultOf(error), options);
    if (parts.length === 1) throw error;
    const outcomeOf = await serveParts(parts, options, lockTimeoutMs ?? MAX_LOCK_WAIT_MS);
    return calls.map((call) => outcomeOf.get(call)!);
  }
}

async function serveTogether<Call, Outcome>(
  calls: readonly Call[],
  { serve }: GroupOptions<Call, Outcome>,
  lockTimeoutMs?: number,
): Promise<Outcome[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await serve(calls, lockTimeoutMs);
    } catch (error) {
      if (faultOf(error) !== 'conflict' || tries >= MAX_CONFLICT_TRIES) throw error;
    }
  }
}

/** The parts of a group of which some may succeed after a fault. Calls that lock the same are one: else each of them would wait for it. */
function partsOf<Call>(
  calls: readonly Call[],
  fault: DatabaseFault,
  { lockedBy }: Pick<GroupOptions<Call, unknown>, 'lockedBy'>,
): (readonly Call[])[] {
  if (fault === 'data') return calls.map((call) => [call]);
  if (fault === 'locked' || fault === 'conflict') return [...Map.groupBy(calls, lockedBy).values()];
  return [calls];
}

async function serveParts<Call, Outcome extends object>(
  parts: readonly (readonly Call[])[],
  options: GroupOptions<Call, Outcome>,
  maxLockWaitMs: number,
): Promise<Map<Call, Outcome | FailedCall>> {
  const outcomeOf = new Map<Call, Outcome | FailedCall>();
  let open = parts;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const lockedOut: (readonly Call[])[] = [];
    for (const part of open) {
      const outcomes = await servePart(part, options, maxLockWaitMs / ROUNDS / open.length);
      for (const [n, call] of part.entries()) outcomeOf.set(call, outcomes[n]!);
      const outage = outcomes.find((outcome) => isUnreachable(faultIn(outcome)));
      if (outage !== undefined) return withRest(outcomeOf, parts, outage);
      if (outcomes.every((outcome) => faultIn(outcome) === 'locked')) lockedOut.push(part);
    }
    open = lockedOut;
  }
  return outcomeOf;
}

/** Serves a part of a group; an error becomes the outcome of all its calls. */
async function servePart<Call, Outcome extends object>(
  part: readonly Call[],
  options: GroupOptions<Call, Outcome>,
  lockTimeoutMs: number,
): Promise<(Outcome | FailedCall)[]> {
  try {
    return await serveGroup(part, options, lockTimeoutMs);
  } catch (error) {
    return part.map(() => ({ kind: 'failed', error }));
  }
}

/** The database has become unreachable: the remaining calls fail in the same way, without waiting for that one by one. */
function withRest<Call, Outcome>(
  outcomeOf: ReadonlyMap<Call, Outcome>,
  parts: readonly (readonly Call[])[],
  outage: Outcome,
): Map<Call, Outcome> {
  return new Map(parts.flat().map((call) => [call, outcomeOf.get(call) ?? outage]));
}

function faultIn(outcome: object): DatabaseFault | undefined {
  return 'error' in outcome ? faultOf(outcome.error) : undefined;
}

function isUnreachable(fault: DatabaseFault | undefined): boolean {
  return fault === 'unavailable' || fault === 'lost';
}

import { type Finding, unknown } from '@posthorn/domain';
import { within } from '@posthorn/kernel';

/** Looks at one thing. What it throws is a finding too. */
export interface Check {
  /** What is looked at, such as `redis.eviction`. */
  readonly name: string;
  /** How long it may take; then it is a finding that it took longer. Default: 15 s. */
  readonly withinMs?: number;
  readonly look: () => Promise<Finding> | Finding;
}

/** What a check came to. */
export interface CheckResult extends Finding {
  readonly check: string;
}

/** What a whole installation was found to be. */
export interface Examination {
  /** No check found a fault, and each could find out what it was for. */
  readonly isSound: boolean;
  readonly results: readonly CheckResult[];
}

const MAX_MS = 15_000;

/** Makes all checks at the same time. None waits for another or hides it, and the whole takes as long as the slowest may. */
export async function examine(
  checks: readonly Check[],
  describeError: (error: Error) => Finding,
): Promise<Examination> {
  const results = await Promise.all(
    checks.map(async (check) => ({ check: check.name, ...(await findingOf(check, describeError)) })),
  );
  return { isSound: results.every(({ kind }) => kind === 'good' || kind === 'advice'), results };
}

async function findingOf(
  { look, withinMs = MAX_MS }: Check,
  describeError: (error: Error) => Finding,
): Promise<Finding> {
  try {
    const looked = Promise.resolve().then(look);
    // Who is late may fail still; nobody listens by then.
    looked.catch(() => undefined);
    const finding = await within(looked, withinMs);
    return (
      finding ??
      unknown(`no answer within ${withinMs / 1_000} s`, 'see whether it is overloaded or cannot be reached')
    );
  } catch (error) {
    return describeError(error as Error);
  }
}

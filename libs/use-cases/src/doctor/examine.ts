import { type Finding, unknown } from '@posthorn/domain';
import { within } from '@posthorn/kernel';

/** Checks one aspect of an installation. An error that it throws counts as a finding too. */
export interface Check {
  /** The name of the check, such as `redis.eviction`. */
  readonly name: string;
  /** The time limit; exceeding it is a finding. Default: 15 s. */
  readonly withinMs?: number;
  readonly run: () => Promise<Finding> | Finding;
}

export interface CheckResult extends Finding {
  readonly check: string;
}

/** The result of examining a whole installation. */
export interface Examination {
  /** Whether no check found a fault and all of them could be completed. */
  readonly isSound: boolean;
  readonly results: readonly CheckResult[];
}

const MAX_MS = 15_000;

/** Runs all checks concurrently. None waits for another or hides its result, and the whole takes no longer than the slowest one may. */
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
  { run, withinMs = MAX_MS }: Check,
  describeError: (error: Error) => Finding,
): Promise<Finding> {
  try {
    const finding = await within(Promise.resolve().then(run), withinMs);
    return (
      finding ??
      unknown(`no answer within ${withinMs / 1_000} s`, 'see whether it is overloaded or cannot be reached')
    );
  } catch (error) {
    return describeError(error as Error);
  }
}

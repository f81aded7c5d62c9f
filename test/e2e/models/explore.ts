import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/** The seed of a run: set MODEL_SEED to repeat one. Each test shows it in its title. */
export const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31));

const RUNS = 100;
/** No new run begins after this time. */
const WITHIN_MS = 60_000;

/**
 * Checks a property with random values. After `withinMs`, no new run begins, and the test passes with the runs so far; there is at least one, however
 * slow the machine is: the time limit of fast-check would abandon a run in its middle, and fail if that was the first.
 */
export async function holds<Value>(
  values: fc.Arbitrary<Value>,
  check: (value: Value) => Promise<void>,
  { runs, withinMs }: { readonly runs: number; readonly withinMs: number },
): Promise<void> {
  const endsAt = performance.now() + withinMs;
  let hasBegun = false;
  const property = fc.asyncProperty(values, async (value) => {
    if (hasBegun && performance.now() > endsAt) return;
    hasBegun = true;
    await check(value);
  });
  await fc.assert(property, { seed: SEED, numRuns: runs });
}

/**
 * Runs random sequences of commands, each on a fresh model and a fresh real system (model-based testing). A sequence that fails is
 * shrunk and shown with its seed.
 *
 * @param begin makes the initial model and system
 */
export async function explore<Model extends object, Real>(
  commands: fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Real>>>,
  begin: () => Promise<{ model: Model; real: Real }>,
): Promise<void> {
  const run = (sequence: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> =>
    fc.asyncModelRun(begin, sequence);
  await holds(commands, run, { runs: RUNS, withinMs: WITHIN_MS });
}

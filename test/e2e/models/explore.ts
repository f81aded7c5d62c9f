import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/** The seed of a run: set MODEL_SEED to repeat one. Each test shows it in its title. */
export const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31));

const RUNS = 100;
/** No new run begins after this time; the test then passes with the runs so far. */
const WITHIN_MS = 60_000;

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
  const property = fc.asyncProperty(commands, (sequence) => fc.asyncModelRun(begin, sequence));
  await fc.assert(property, { seed: SEED, numRuns: RUNS, interruptAfterTimeLimit: WITHIN_MS });
}

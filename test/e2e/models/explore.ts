import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/** MODEL_SEED repeats a run; each test says in its name which one it had. */
export const SEED = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31));

const RUNS = 100;
/** After so long no new run begins; what has been tried by then counts. */
const WITHIN_MS = 60_000;

/**
 * Tries random sequences of commands, each on a fresh model and a fresh piece of the real thing; what fails is made as short as
 * can be and shown with its seed.
 *
 * @param begin makes what a sequence starts with
 */
export async function explore<Model extends object, Real>(
  commands: fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Real>>>,
  begin: () => Promise<{ model: Model; real: Real }>,
): Promise<void> {
  const property = fc.asyncProperty(commands, (sequence) => fc.asyncModelRun(begin, sequence));
  await fc.assert(property, { seed: SEED, numRuns: RUNS, interruptAfterTimeLimit: WITHIN_MS });
}

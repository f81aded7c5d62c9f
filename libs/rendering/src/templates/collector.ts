import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Has the whole heap of this thread collected, which nothing but a flag of V8 gives; it is for new contexts only, and taken back at once.
 *
 * @returns undefined where another thread has just taken it back, as all share the flag: to be asked for again
 */
export function collector(): (() => void) | undefined {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('globalThis.gc') as (() => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  return gc;
}

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * A function that collects the whole heap of this thread. V8 offers it only behind a flag, and only to contexts that are created while
 * the flag is set; the flag is reset at once.
 *
 * @returns undefined if another thread reset the flag, which all threads share, in between: call it again
 */
export function exposeGarbageCollector(): (() => void) | undefined {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('globalThis.gc') as (() => void) | undefined;
  setFlagsFromString('--no-expose-gc');
  return gc;
}

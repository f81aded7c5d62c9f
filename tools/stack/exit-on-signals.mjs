import { constants } from 'node:os';

/**
 * Makes this program exit on SIGTERM and SIGINT, with the exit codes of shells. Without a handler, the kernel ignores signals to PID 1, which a
 * program in a container is.
 */
export function exitOnSignals() {
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT']))
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { BoundedMap } from '@posthorn/kernel';
import type { Logger } from 'pino';
import { asError } from './as-error.ts';

const SUPPRESSED_MS = 10_000;
/** More kinds of errors than an outage has. */
const MAX_KINDS = 100;
/** Errors that differ only in the job are of one kind: when Redis has lost its jobs, there is one for each of them. */
const JOB = /\bjob (?:"[^"]*"|\S+)/gi;

/**
 * Logs errors that recur while a dependency is unavailable: each kind at most once in ten seconds, with how often it occurred in
 * between. They concern whoever needs it, so the lines name no request.
 *
 * @param message what the errors have in common
 * @param nowMs a monotonic clock
 */
export function reportRepeated(
  logger: Pick<Logger, 'warn'>,
  message: string,
  nowMs: () => number = () => performance.now(),
): (error: unknown) => void {
  const kinds = new BoundedMap<string, { loggedAtMs: number; suppressed: number }>(MAX_KINDS);
  // In the context of its creation: the request that opened a connection has nothing to do with its later errors.
  return AsyncLocalStorage.bind((error: unknown): void => {
    const err = asError(error);
    const kind = `${err.name} ${err.message.replace(JOB, 'job')}`;
    const known = kinds.get(kind);
    if (known !== undefined && nowMs() - known.loggedAtMs < SUPPRESSED_MS) {
      known.suppressed += 1;
      return;
    }
    kinds.set(kind, { loggedAtMs: nowMs(), suppressed: 0 });
    logger.warn({ err, ...(known?.suppressed ? { timesBefore: known.suppressed } : {}) }, message);
  });
}

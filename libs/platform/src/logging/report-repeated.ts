import { AsyncLocalStorage } from 'node:async_hooks';
import { BoundedMap } from '@posthorn/kernel';
import type { Logger } from 'pino';
import { asError } from './as-error.ts';

const QUIET_MS = 10_000;
/** More kinds of errors than an outage has. */
const MAX_KINDS = 100;
/** Errors that differ only in the job are of one kind: when Redis has lost its jobs, there is one for each of them. */
const JOB = /\bjob \S+/g;

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
  const kinds = new BoundedMap<string, { saidAtMs: number; unsaid: number }>(MAX_KINDS);
  // In the context that this is made in: the request that happened to open a connection is not the one that breaks with it.
  return AsyncLocalStorage.bind((error: unknown): void => {
    const err = asError(error);
    const kind = `${err.name} ${err.message.replace(JOB, 'job')}`;
    const known = kinds.get(kind);
    if (known !== undefined && nowMs() - known.saidAtMs < QUIET_MS) {
      known.unsaid += 1;
      return;
    }
    kinds.set(kind, { saidAtMs: nowMs(), unsaid: 0 });
    logger.warn({ err, ...(known?.unsaid ? { timesBefore: known.unsaid } : {}) }, message);
  });
}

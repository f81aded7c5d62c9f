import { format } from 'node:util';
import type { Logger } from 'pino';

const LEVELS = { error: 'error', warn: 'warn', log: 'info', info: 'info', debug: 'debug' } as const;

/** Writes into a log what is written to the console of this process, as BullMQ and ioredis do with their warnings, and what Node itself warns of. */
export function logConsole(logger: Logger): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    const write = (...said: unknown[]): void => {
      const err = said.find((part) => part instanceof Error);
      const words = said.filter((part) => part !== err);
      logger[level]({ err }, words.length === 0 && err ? err.message : format(...words));
    };
    Object.assign(console, { [method]: write });
  }
  logWarnings(logger);
}

/** Node would print them to standard error as plain lines. What its flags say is not to be told is not told here either. */
function logWarnings(logger: Logger): void {
  // With `--no-warnings` nobody listens.
  if (process.listenerCount('warning') === 0) return;
  process.removeAllListeners('warning');
  const flags = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(' ')];
  process.on('warning', (err: Error & { code?: string }) => {
    if ([err.name, err.code].some((what) => flags.includes(`--disable-warning=${what}`))) return;
    logger.warn({ err }, err.message);
  });
}

import { format } from 'node:util';
import type { Logger } from 'pino';

const LEVELS = { error: 'error', warn: 'warn', log: 'info', info: 'info', debug: 'debug' } as const;

/** Redirects the console of this process, which BullMQ and ioredis use for warnings, and the warnings of Node to a logger. */
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

/** Logs the warnings that Node would print to standard error as plain text, unless they are disabled by its flags. */
function logWarnings(logger: Logger): void {
  // With `--no-warnings`, Node has no listener.
  if (process.listenerCount('warning') === 0) return;
  process.removeAllListeners('warning');
  const flags = [...process.execArgv, ...(process.env['NODE_OPTIONS'] ?? '').split(' ')];
  process.on('warning', (err: Error & { code?: string }) => {
    if ([err.name, err.code].some((what) => flags.includes(`--disable-warning=${what}`))) return;
    logger.warn({ err }, err.message);
  });
}

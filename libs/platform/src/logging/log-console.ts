import { format } from 'node:util';
import type { Logger } from 'pino';

const LEVELS = { error: 'error', warn: 'warn', log: 'info', info: 'info', debug: 'debug' } as const;

/** Writes into a log what is written to the console of this process, as BullMQ and ioredis do with their warnings. */
export function logConsole(logger: Logger): void {
  for (const [method, level] of Object.entries(LEVELS)) {
    const write = (...said: unknown[]): void => {
      const err = said.find((part) => part instanceof Error);
      const words = said.filter((part) => part !== err);
      logger[level]({ err }, words.length === 0 && err ? err.message : format(...words));
    };
    Object.assign(console, { [method]: write });
  }
}

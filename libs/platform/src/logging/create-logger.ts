import { AsyncLocalStorage } from 'node:async_hooks';
import { pino, type Bindings, type ChildLoggerOptions, type DestinationStream, type Logger } from 'pino';
import type { LogSettings } from '../settings/connection-settings.ts';
import { GatheredLines } from './gathered-lines.ts';
import { LineOutput } from './line-output.ts';
import { logConsole } from './log-console.ts';
import { redactFields } from './redact-fields.ts';
import { redactLine } from './redact-line.ts';
import { requestContext } from './request-context.ts';

export type { Logger } from 'pino';

const STANDARD_OUTPUT = 1;
const LOST = 'lines of this log were lost: what they are written to was full, or did not take them';

/**
 * Makes the logger of a process: JSON lines with ISO times, the app's name and the id of the request that is worked on.
 * Addresses, contents, keys and passwords are left out by field name and masked by pattern.
 *
 * @param destination where the lines go; by default standard output, and then what is written to the console is logged as well
 */
export function createLogger(
  settings: Pick<LogSettings, 'LOG_LEVEL'>,
  appName: string,
  destination?: DestinationStream,
): Logger {
  // In the context of no request: the lines of many are written together.
  const onLost = AsyncLocalStorage.bind((lines: number): void => logger.warn({ lines }, LOST));
  const logger: Logger = pino(
    {
      level: settings.LOG_LEVEL,
      base: { app: appName, pid: process.pid },
      timestamp: timeOfNow,
      formatters: {
        level: (label) => ({ level: label }),
        bindings: redactFields,
        log: (fields) => redactFields(fields, requestContext.getStore()),
      },
      serializers: { err: (err: unknown) => err },
      hooks: { streamWrite: redactLine },
    },
    destination ?? new GatheredLines(new LineOutput(STANDARD_OUTPUT, onLost)),
  );
  redactChildren(logger);
  if (destination === undefined) logConsole(logger);
  return logger;
}

/** pino's formatter of bindings is not asked about those of child loggers. */
function redactChildren(logger: Logger): void {
  const child: unknown = Reflect.get(logger, 'child');
  if (typeof child !== 'function') throw new Error('this pino has no child loggers');
  Object.assign(logger, {
    child(this: Logger, bindings: Bindings, options?: ChildLoggerOptions): unknown {
      return Reflect.apply(child, this, [redactFields(bindings), options]);
    },
  });
}

const lastTime = { ms: Number.NaN, text: '' };

/** As pino wants it: a member of the line. It is made once a millisecond. */
function timeOfNow(): string {
  const ms = Date.now();
  if (ms !== lastTime.ms) Object.assign(lastTime, { ms, text: `,"time":"${new Date(ms).toISOString()}"` });
  return lastTime.text;
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { pino, type Bindings, type ChildLoggerOptions, type DestinationStream, type Logger } from 'pino';
import type { LogSettings } from '../settings/connection-settings.ts';
import { LineBuffer } from './line-buffer.ts';
import { LineOutput } from './line-output.ts';
import { logConsole } from './log-console.ts';
import { redactFields } from './redact-fields.ts';
import { redactLine } from './redact-line.ts';
import { requestContext } from './request-context.ts';

export type { Logger } from 'pino';

const STANDARD_OUTPUT = 1;
const LINES_LOST = 'lines of this log were lost: their destination was full, or did not accept them';

/**
 * Creates the logger of a process: JSON lines with ISO times, the app's name and the id of the current request.
 * Addresses, contents, keys and passwords are redacted by field name and masked by pattern.
 *
 * @param destination where the lines go; default: standard output, and then console output is logged as well
 */
export function createLogger(
  settings: Pick<LogSettings, 'LOG_LEVEL'>,
  appName: string,
  destination?: DestinationStream,
): Logger {
  // Outside of any request context: the lines of many requests are written together.
  const onLost = AsyncLocalStorage.bind((lines: number): void => logger.warn({ lines }, LINES_LOST));
  const logger: Logger = pino(
    {
      level: settings.LOG_LEVEL,
      base: { app: appName, pid: process.pid },
      timestamp,
      formatters: {
        level: (label) => ({ level: label }),
        bindings: redactFields,
        log: (fields) => redactFields(fields, requestContext.getStore()),
      },
      serializers: { err: (err: unknown) => err },
      hooks: { streamWrite: redactLine },
    },
    destination ?? new LineBuffer(new LineOutput(STANDARD_OUTPUT, onLost)),
  );
  redactChildren(logger);
  if (destination === undefined) logConsole(logger);
  return logger;
}

/** pino does not apply the formatter of bindings to child loggers. */
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

/** The time as pino expects it, a member of the line; formatted at most once per millisecond. */
function timestamp(): string {
  const ms = Date.now();
  if (ms !== lastTime.ms) Object.assign(lastTime, { ms, text: `,"time":"${new Date(ms).toISOString()}"` });
  return lastTime.text;
}

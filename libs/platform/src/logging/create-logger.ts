import {
  pino,
  stdTimeFunctions,
  type Bindings,
  type ChildLoggerOptions,
  type DestinationStream,
  type Logger,
} from 'pino';
import type { LogSettings } from '../settings/connection-settings.ts';
import { redactFields } from './redact-fields.ts';
import { redactLine } from './redact-line.ts';
import { requestContext } from './request-context.ts';

export type { Logger } from 'pino';

/**
 * Makes the logger of a process: JSON lines with ISO times, the app's name and the id of the request that is worked on.
 * Addresses, contents, keys and passwords are left out by field name and masked by pattern.
 *
 * @param destination where the lines go; standard output by default
 */
export function createLogger(
  settings: Pick<LogSettings, 'LOG_LEVEL'>,
  appName: string,
  // Lines that come while others are being written go out together; what is left is written when the process exits.
  destination: DestinationStream = pino.destination({ dest: 1, sync: false }),
): Logger {
  const logger = pino(
    {
      level: settings.LOG_LEVEL,
      base: { app: appName, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      mixin: () => requestIdOfNow(),
      formatters: {
        level: (label) => ({ level: label }),
        bindings: redactFields,
        log: redactFields,
      },
      serializers: { err: (err: unknown) => err },
      hooks: { streamWrite: redactLine },
    },
    destination,
  );
  redactChildren(logger);
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

function requestIdOfNow(): { requestId?: string } {
  const context = requestContext.getStore();
  return context ? { requestId: context.requestId } : {};
}

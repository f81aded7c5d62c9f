import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { asError } from '../logging/as-error.ts';
import { answerOf, errorBody, type ErrorAnswer, type ErrorRenderer, writeError } from './error-answer.ts';

const UNKNOWN_FAULT =
  'Something went wrong on our side; try again, and if it continues, tell us the X-Request-Id of this answer';

export interface ErrorFilterOptions {
  readonly logger: Logger;
  /** Where the pages that explain errors are, without a slash at its end. */
  readonly publicUrl: string;
  /** What callers are told of an exception; undefined: it is a fault of ours. Default: a refusal is told as it is. */
  readonly refusalOf?: ((exception: unknown) => Refusal | undefined) | undefined;
  /** Told of what a refusal was caused by: callers are not, and a full disk, say, shows nowhere else. */
  readonly onCause?: ((cause: unknown) => void) | undefined;
  /** Default: the error body of the interface as JSON. */
  readonly renderError?: ErrorRenderer | undefined;
}

/** Gives every exception its answer; what is not meant for the caller is only logged. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly options: ErrorFilterOptions) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    writeError(response, this.answerTo(exception), this.options.renderError);
  }

  private answerTo(exception: unknown): ErrorAnswer {
    const { logger, publicUrl, refusalOf = asIs, onCause } = this.options;
    const refusal = refusalOf(exception);
    if (refusal?.cause !== undefined) onCause?.(refusal.cause);
    if (refusal) return answerOf(refusal, publicUrl);
    const shown = shownToCallers(exception);
    if (shown) return { body: errorBody(shown.status, shown.message), headers: {} };
    logger.error({ err: asError(exception) }, 'a request failed');
    return { body: errorBody(500, UNKNOWN_FAULT), headers: {} };
  }
}

function asIs(exception: unknown): Refusal | undefined {
  return exception instanceof Refusal ? exception : undefined;
}

/** Faults of the caller that Nest or Express found; a 5xx of theirs is ours and shows nothing. */
function shownToCallers(exception: unknown): { status: number; message: string } | undefined {
  if (!(exception instanceof HttpException)) return undefined;
  const status = exception.getStatus();
  return status >= 400 && status < 500 ? { status, message: exception.message } : undefined;
}

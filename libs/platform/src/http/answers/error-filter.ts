import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { asError } from '../../logging/as-error.ts';
import { answerOf, errorBody, type ErrorAnswer, type ErrorRenderer, writeError } from './error-answer.ts';

/** A fault of ours, of which callers see no details. */
export const UNKNOWN_FAULT = new Refusal(
  500,
  'Something went wrong on our side; try again, and if it continues, tell us the X-Request-Id of this answer',
);

export interface ErrorFilterOptions {
  readonly logger: Logger;
  /** The base URL of the pages that explain errors, without a trailing slash. */
  readonly publicUrl: string;
  /** Maps an exception to the refusal for the caller; undefined: an internal error. Default: a `Refusal` itself. */
  readonly refusalOf?: ((exception: unknown) => Refusal | undefined) | undefined;
  /** Called with the cause of a refusal, which is not shown to callers; otherwise a full disk, for example, would go unnoticed. */
  readonly onCause?: ((cause: unknown) => void) | undefined;
  /** Default: the error body of the API as JSON. */
  readonly renderError?: ErrorRenderer | undefined;
}

/** Answers every exception; internal details are only logged. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly options: ErrorFilterOptions) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    writeError(response, this.answerTo(exception), this.options.renderError);
  }

  private answerTo(exception: unknown): ErrorAnswer {
    const { logger, publicUrl, refusalOf = asRefusal, onCause } = this.options;
    const refusal = refusalOf(exception);
    if (refusal?.cause !== undefined) onCause?.(refusal.cause);
    if (refusal) return answerOf(refusal, publicUrl);
    const shown = shownToCallers(exception);
    if (shown) return { body: errorBody(shown.status, shown.message), headers: {} };
    logger.error({ err: asError(exception) }, 'a request failed');
    return answerOf(UNKNOWN_FAULT, publicUrl);
  }
}

function asRefusal(exception: unknown): Refusal | undefined {
  return exception instanceof Refusal ? exception : undefined;
}

/** Client errors of Nest or Express; their 5xx are internal errors without details. */
function shownToCallers(exception: unknown): { status: number; message: string } | undefined {
  if (!(exception instanceof HttpException)) return undefined;
  const status = exception.getStatus();
  return status >= 400 && status < 500 ? { status, message: exception.message } : undefined;
}

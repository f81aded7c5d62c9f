import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';
import type { Logger } from 'pino';
import { answerOf, errorBody, writeError, type ErrorAnswer } from './error-answer.ts';

const UNKNOWN_FAULT =
  'Something went wrong on our side; try again, and if it goes on, tell us the X-Request-Id of this answer';

/** Gives every exception the error body of the interface; what is not meant for the caller is only logged. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly publicUrl: string,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    writeError(response, this.answerTo(exception));
  }

  private answerTo(exception: unknown): ErrorAnswer {
    if (exception instanceof Refusal) return answerOf(exception, this.publicUrl);
    const shown = shownToCallers(exception);
    if (shown) return { body: errorBody(shown.status, shown.message), headers: {} };
    this.logger.error({ err: toError(exception) }, 'a request failed');
    return { body: errorBody(500, UNKNOWN_FAULT), headers: {} };
  }
}

/** Faults of the caller that Nest or Express found; a 5xx of theirs is ours and shows nothing. */
function shownToCallers(exception: unknown): { status: number; message: string } | undefined {
  if (!(exception instanceof HttpException)) return undefined;
  const status = exception.getStatus();
  return status >= 400 && status < 500 ? { status, message: exception.message } : undefined;
}

function toError(exception: unknown): Error {
  return exception instanceof Error ? exception : new Error(`thrown, but no error: ${typeof exception}`);
}

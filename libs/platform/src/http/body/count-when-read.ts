import type { RequestHandler } from 'express';
import { shareOf } from '../requests/enter-request.ts';

/**
 * Wraps another body reader so that, as with {@link readJsonBody}, a request counts as in flight only when its body is complete: otherwise a thousand
 * connections with unfinished bodies would block all others.
 */
export function countWhenRead(read: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const share = shareOf(request);
    share?.wait();
    void read(request, response, (fault?: unknown) => next(fault ?? share?.resume()));
  };
}

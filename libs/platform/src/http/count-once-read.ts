import type { RequestHandler } from 'express';
import { shareOf } from './enter-request.ts';

/**
 * Has bodies read by a reader that is not ours. As with ours, a request counts as one that is worked on only when all of its body has come: else a thousand
 * connections that send none to its end would keep everybody out.
 */
export function countOnceRead(read: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const share = shareOf(request);
    share?.wait();
    void read(request, response, (fault?: unknown) => next(fault ?? share?.goOn()));
  };
}

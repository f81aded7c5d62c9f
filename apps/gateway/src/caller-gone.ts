import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

/**
 * Gives a handler a signal that is aborted when the caller closes the connection. A caller who merely sends nothing more, and still reads, looks the
 * same until something is written: so the signal is for what is not worth waiting for, and whoever is refused because of it is answered.
 */
export const CallerGone = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const http = context.switchToHttp();
  const { socket } = http.getRequest<Request>();
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  if (socket.readableEnded) leave();
  socket.once('end', leave);
  http.getResponse<Response>().once('close', () => {
    socket.off('end', leave);
    leave();
  });
  return gone.signal;
});

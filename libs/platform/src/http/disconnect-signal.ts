import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';

/**
 * Gives a handler a signal that is aborted when the caller disconnects, or only closes its sending side, which looks the same until something
 * is written. So use the signal only to stop waiting, and still send an answer.
 */
export const DisconnectSignal = createParamDecorator(
  (_data: unknown, context: ExecutionContext): AbortSignal => {
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
  },
);

import type { Socket } from 'node:net';
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
    if (socket.readableEnded) gone.abort();
    const others = requestsOn(socket);
    others.add(gone);
    http.getResponse<Response>().once('close', () => {
      others.delete(gone);
      gone.abort();
    });
    return gone.signal;
  },
);

const requests = new WeakMap<Socket, Set<AbortController>>();

/** The requests on a connection, which are aborted when it ends: by one listener, because a caller may pipeline many of them. */
function requestsOn(socket: Socket): Set<AbortController> {
  const known = requests.get(socket);
  if (known !== undefined) return known;
  const all = new Set<AbortController>();
  requests.set(socket, all);
  socket.once('end', () => all.forEach((gone) => gone.abort()));
  return all;
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests may be sent on a connection before the first one is answered. */
export const MAX_AHEAD = 64;

const sentAhead = new WeakMap<Socket, number>();

/**
 * Ends connections on which too many requests are sent ahead, as a server may (RFC 9112, section 9.3.2): 50 kB can be 1,500 requests,
 * and with three hundred such connections, none of which needed a key, the requests alone filled the memory of a gateway.
 */
export function boundPipelining(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (mayWait(request, response)) listener(request, response);
  };
}

function mayWait({ socket }: IncomingMessage, response: ServerResponse): boolean {
  // A response has the socket unless another one must be written first.
  if (response.socket !== null) return true;
  if (socket.destroyed) return false;
  const ahead = (sentAhead.get(socket) ?? 0) + 1;
  if (ahead > MAX_AHEAD) {
    socket.destroy();
    return false;
  }
  sentAhead.set(socket, ahead);
  response.once('close', () => sentAhead.set(socket, sentAhead.get(socket)! - 1));
  return true;
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests may be pipelined on a connection, waiting for the first one to be answered. */
export const MAX_PIPELINED = 64;

const pipelined = new WeakMap<Socket, number>();
const closing = new WeakSet<Socket>();

/** Lets an answer, whose head was not sent yet, close its connection: the requests behind it are not processed (RFC 9112, section 9.6), since nobody would see theirs. */
export function closeWith(answer: ServerResponse): void {
  answer.setHeader('Connection', 'close');
  closing.add(answer.req.socket);
}

/**
 * Drops the requests behind an answer that closes the connection, and closes connections with too many pipelined requests, as a server may (RFC 9112,
 * section 9.3.2): 50 kB can contain 1,500 requests, and three hundred such connections, none of them with a key, filled the memory of a gateway.
 */
export function limitPipelining(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (mayWait(request, response)) listener(request, response);
  };
}

function mayWait({ socket }: IncomingMessage, response: ServerResponse): boolean {
  if (closing.has(socket)) return false;
  // A response is assigned the socket unless another one must be written first.
  if (response.socket !== null) return true;
  if (socket.destroyed) return false;
  const ahead = (pipelined.get(socket) ?? 0) + 1;
  if (ahead > MAX_PIPELINED) {
    socket.destroy();
    return false;
  }
  pipelined.set(socket, ahead);
  response.once('close', () => pipelined.set(socket, pipelined.get(socket)! - 1));
  return true;
}

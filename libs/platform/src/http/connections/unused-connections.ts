import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

const open = new WeakMap<Server, Set<Socket>>();
const kept = new WeakSet<Socket>();

/** Notes the connections of a server for {@link closeUnused}. */
export function watchConnections(server: Server): void {
  const connections = new Set<Socket>();
  open.set(server, connections);
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
}

/** Whether nothing was received on a connection: browsers and proxies open some in advance, for requests to come. */
export function isUnused(socket: Socket): boolean {
  return socket.bytesRead === 0;
}

/** Closes the unused connections of a server, which Node does not count among the idle ones. */
export function closeUnused(server: Server): void {
  for (const socket of open.get(server) ?? []) if (isUnused(socket)) socket.destroy();
}

/** Keeps an unused connection open for as long as an idle one, until there is a request. */
export function keepUnused(socket: Socket, server: Server): void {
  kept.add(socket);
  socket.setTimeout(server.keepAliveTimeout);
}

/** Ends the limit of {@link keepUnused} with the first request. */
export function useKept(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (kept.delete(request.socket)) request.socket.setTimeout(0);
    listener(request, response);
  };
}

import type { Server } from 'node:http';
import type { AddressInfo, Server as SocketServer } from 'node:net';

/** Lets a server listen on a free port of 127.0.0.1. @returns the port */
export async function listenOnLoopback(server: SocketServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** The origin of the URLs of such a server. */
export function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Ends all connections of a server, and stops it. */
export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

import { connect, createServer } from 'node:net';
import { listenOnLoopback } from '@posthorn/testing';

/** A name as long as that of the parameter, which Postgres takes and which means nothing. */
const meaningless = (parameter: string): string => `${'a'.repeat(parameter.length - 2)}.a`;

/** Stands before Postgres like a pooler that ignores a startup parameter of connections. */
export async function startPoolerWithout(
  parameter: string,
  url: string,
): Promise<{ url: string; close: () => void }> {
  const { hostname, port } = new URL(url);
  const pooler = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.once('data', (startup) => {
      server.write(startup.toString('latin1').replace(parameter, meaningless(parameter)), 'latin1');
      client.pipe(server).pipe(client);
    });
  });
  const pooled = new URL(url);
  pooled.hostname = '127.0.0.1';
  pooled.port = String(await listenOnLoopback(pooler));
  return { url: pooled.href, close: () => pooler.close() };
}

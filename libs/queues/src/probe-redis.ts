import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** Any server on this machine or in its network answers faster than this. */
const ANSWERS_WITHIN_MS = 3_000;
const DEFAULT_PORT = 6379;
/** A Redis that refuses the connection (protected mode, maxclients) sends the error unasked, then hangs up. */
const REFUSED_WITHIN_MS = 200;
/** How a Redis answers PING: with PONG, or with an error such as that it requires a login or accepts no more connections. */
const ANSWER = /^(?:\+PONG|-[A-Z]+ .*)/;

/** What a Redis answers without TLS at the host and port of a URL; undefined: no Redis answers. At most PING is sent. */
export function answerInClear(url: string): Promise<string | undefined> {
  return probe((settle) => {
    const socket = connect(placeIn(url), () => {
      // Writing to a closed connection fails, and loses the error that was sent before it was closed.
      setTimeout(() => socket.writable && socket.write('PING\r\n'), REFUSED_WITHIN_MS);
    });
    return socket
      .once('error', () => settle())
      .once('data', (answer) => settle(ANSWER.exec(answer.toString('latin1'))?.[0]));
  });
}

/** Whether a server speaks TLS at the host and port of a URL, whatever its certificate. Nothing is sent: it may be any server. */
export async function answersTls(url: string): Promise<boolean> {
  const isSo = await probe<true>((settle) =>
    connectSecurely({ ...placeIn(url), rejectUnauthorized: false }, () => settle(true)).once('error', () =>
      settle(),
    ),
  );
  return isSo ?? false;
}

/**
 * The alert with which a server ends a TLS connection, whatever its certificate; undefined: it sends none. A client that writes at once often gets a
 * reset instead of the alert.
 */
export function tlsAlert(url: string): Promise<Error | undefined> {
  return probe((settle) =>
    // With TLS 1.3 the client is connected before the server has judged it.
    connectSecurely({ ...placeIn(url), rejectUnauthorized: false })
      .once('error', (error: Error) => settle(/ alert /.test(error.message) ? error : undefined))
      .resume(),
  );
}

/** What a connection has shown when it is settled; undefined if it was closed before, or nothing came in time. */
function probe<Shown>(open: (settle: (shown?: Shown) => void) => Socket): Promise<Shown | undefined> {
  return new Promise((resolve) => {
    const settle = (shown?: Shown): void => {
      socket.destroy();
      resolve(shown);
    };
    const socket = open(settle);
    socket.setTimeout(ANSWERS_WITHIN_MS, () => settle()).once('close', () => settle());
  });
}

function placeIn(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || DEFAULT_PORT };
}

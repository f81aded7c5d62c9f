import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** Any server on this machine or in its network answers sooner. */
const ANSWERS_WITHIN_MS = 3_000;
const DEFAULT_PORT = 6379;
/** How a Redis answers a PING: it is there, it requires a login, or it accepts no more connections. */
const ANSWER = /^(?:\+PONG|-[A-Z]+ )/;

/** Whether a Redis answers without TLS at the host and port of a URL. Nothing but PING is sent. */
export function answersInClear(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(placeIn(url), () => socket.write('PING\r\n'));
    const settle = (isSo: boolean): void => {
      socket.destroy();
      resolve(isSo);
    };
    socket.setTimeout(ANSWERS_WITHIN_MS, () => settle(false));
    socket.once('error', () => settle(false)).once('close', () => settle(false));
    socket.once('data', (answer) => settle(ANSWER.test(answer.toString('latin1'))));
  });
}

/** Whether a server speaks TLS at the host and port of a URL, with whatever certificate. */
export function answersTls(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isSo: boolean): void => {
      socket.destroy();
      resolve(isSo);
    };
    // Nothing is sent: it may be any server.
    const socket = connectSecurely({ ...placeIn(url), rejectUnauthorized: false }, () => settle(true));
    socket.setTimeout(ANSWERS_WITHIN_MS, () => settle(false));
    socket.once('error', () => settle(false)).once('close', () => settle(false));
  });
}

function placeIn(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || DEFAULT_PORT };
}

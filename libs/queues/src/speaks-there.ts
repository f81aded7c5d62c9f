import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

/** Who listens on this machine or in its network answers sooner. */
const ANSWERS_WITHIN_MS = 3_000;
const DEFAULT_PORT = 6379;
/** How a Redis answers a PING: that it is there, that it wants a login, or that it takes no connection more. */
const ANSWER = /^(?:\+PONG|-[A-Z]+ )/;

/** Whether a Redis speaks in clear where a URL leads to. It is told nothing but PING. */
export function speaksClear(url: string): Promise<boolean> {
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

/** Whether somebody speaks TLS where a URL leads to, with whatever certificate. */
export function speaksTls(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isSo: boolean): void => {
      socket.destroy();
      resolve(isSo);
    };
    // Nothing is said to whoever it is.
    const socket = connectSecurely({ ...placeIn(url), rejectUnauthorized: false }, () => settle(true));
    socket.setTimeout(ANSWERS_WITHIN_MS, () => settle(false));
    socket.once('error', () => settle(false)).once('close', () => settle(false));
  });
}

function placeIn(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) || DEFAULT_PORT };
}

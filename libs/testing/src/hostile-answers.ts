import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { sleep } from '@posthorn/kernel';
import { resetSocket } from './reset-socket.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A request that was received completely. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The number of the connection, from 1. */
  readonly connection: number;
}

/** Answers a request; the signal is aborted when the receiver closes. */
export type HostileAnswer = (socket: Socket, request: ReceivedRequest, closing: AbortSignal) => unknown;

/** Sends exactly these lines. */
const sends =
  (...lines: string[]): HostileAnswer =>
  (socket) =>
    socket.write(lines.join('\r\n'), 'latin1');

/** Writes without end, as fast as the client reads, or once in `everyMs`. */
const endless =
  (beginning: string, more: string | Buffer, everyMs = 0): HostileAnswer =>
  async (socket, _request, closing) => {
    socket.write(beginning, 'latin1');
    while (!socket.destroyed && !closing.aborted) {
      const isTaken = socket.write(more);
      if (everyMs > 0) await sleep(everyMs, closing);
      else if (!isTaken) await drained(socket);
      else await sleep(0, closing);
    }
  };

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', resolve);
  });
}

/** Resets the connection (RST); a TLS connection is only destroyed. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else resetSocket(socket);
}

/** Resets it when a client in this process has read what was written: a reset takes back what is not read yet, and timers run before sockets are read. */
function resetOnceRead(socket: Socket): void {
  setTimeout(() => setImmediate(reset, socket), 20);
}

const OK = 'HTTP/1.1 200 OK';
const answer = (head: string[], body: string | Buffer): HostileAnswer => {
  return (socket) => {
    const bytes = Buffer.from(body as string);
    const lines = [...head, `Content-Length: ${bytes.length}`, '', ''];
    socket.write(Buffer.concat([Buffer.from(lines.join('\r\n')), bytes]));
  };
};
const gzip = (bytes: Buffer): HostileAnswer => answer([OK, 'Content-Encoding: gzip'], bytes);
/** Made when it is asked for: nearly every spec loads this file. */
const bomb: HostileAnswer = (...request) => gzip(gzipSync(Buffer.alloc(100 * MIB)))(...request);
const CHUNKED = `${OK}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n';

/** By request path. */
export const HOSTILE_ANSWERS: Readonly<Record<string, HostileAnswer>> = {
  '/ok': answer([OK, 'X-Said: Ok'], 'thank you'),
  '/no-content': sends('HTTP/1.1 204 No Content', '', ''),
  '/close': answer([OK, 'Connection: close'], 'bye'),
  '/kept-for-a-second': answer([OK, 'Keep-Alive: timeout=1'], 'thank you'),
  '/kept-for-an-hour': answer([OK, 'Keep-Alive: timeout=3600'], 'thank you'),
  '/http-1.0': (socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nold'),
  '/a-gigabyte': endless(`${OK}\r\nContent-Length: ${1024 * MIB}\r\n\r\n`, Buffer.alloc(64 * KIB, 'x')),
  '/a-byte-at-a-time': endless(CHUNKED, '1\r\nx\r\n', 100),
  '/small-chunks': endless(CHUNKED, '1\r\nx\r\n'.repeat(KIB)),
  '/chunk-extension-without-end': endless(`${CHUNKED}1;`, 'x'.repeat(64 * KIB)),
  '/trailers-without-end': endless(`${CHUNKED}0\r\n`, 'x-trailer: y\r\n'.repeat(KIB)),
  '/header-without-end': endless(`${OK}\r\n`, 'x-header: y\r\n', 20),
  '/header-field-without-end': endless(`${OK}\r\nX-Long: `, 'y'.repeat(KIB)),
  '/status-line-without-end': endless(OK, ' OK'.repeat(KIB)),
  '/blank-lines-without-end': endless('', '\r\n'.repeat(KIB)),
  '/early-hints-without-end': endless('', EARLY_HINTS),
  '/early-hints-then-ok': sends(`${EARLY_HINTS}${OK}`, 'Content-Length: 2', '', 'ok'),
  '/unasked-continue': sends(`${CONTINUE}${OK}`, 'Content-Length: 2', '', 'ok'),
  '/unasked-continue-in-pieces': async (socket) => {
    const pieces = `HTTP/1.1 1|00 Continue\r\nX-A: b\r|\n\r\n${CONTINUE}HTTP|/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`;
    for (const piece of pieces.split('|')) {
      socket.write(piece);
      await sleep(20);
    }
  },
  '/unasked-continue-then-hang-up': (socket) => socket.end(CONTINUE),
  '/unasked-continue-without-end': endless('', CONTINUE.repeat(KIB)),
  '/unasked-continue-of-100-kb': sends('HTTP/1.1 100 Continue', `X-Long: ${'y'.repeat(100 * KIB)}`, '', ''),
  '/switching-protocols': sends(
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: x',
    'Connection: Upgrade',
    '',
    '',
  ),
  '/header-of-100-kb': sends(OK, `X-Long: ${'y'.repeat(100 * KIB)}`, '', ''),
  '/silent': () => undefined,
  '/head-then-silent': sends(OK, 'Content-Length: 100', '', 'not all'),
  '/reset': (socket) => reset(socket),
  '/hang-up': (socket) => socket.end(),
  '/reset-after-3-bytes': (socket) => socket.write('HTT', () => resetOnceRead(socket)),
  '/head-then-reset': (socket) =>
    socket.write(`${OK}\r\nContent-Length: 9\r\n\r\nno`, () => resetOnceRead(socket)),
  '/shorter-than-said': (socket) => socket.end(`${OK}\r\nContent-Length: 100\r\n\r\nshort`),
  '/both-lengths': sends(OK, 'Content-Length: 3', 'Transfer-Encoding: chunked', '', '3', 'abc', '0', '', ''),
  '/two-lengths': sends(OK, 'Content-Length: 3', 'Content-Length: 4', '', 'abcd'),
  '/two-answers': sends(OK, 'Content-Length: 2', '', `okHTTP/1.1 500 No`, 'Content-Length: 2', '', 'no'),
  '/not-http': sends('SSH-2.0-OpenSSH_9.9', ''),
  '/http-2': (socket) =>
    socket.write(Buffer.from('00001204000000000000030000008000040000ffff000500004000', 'hex')),
  '/no-version': sends('200 OK', '', ''),
  '/gzip': gzip(gzipSync('{"a":1}')),
  '/gzip-bomb': bomb,
  '/gzip-truncated': gzip(gzipSync('x'.repeat(KIB)).subarray(0, 20)),
  '/strange-fields': sends(
    OK,
    '__proto__: a',
    'constructor: b',
    'X-Latin: caf\xe9',
    'Content-Length: 0',
    '',
    '',
  ),
  '/strange-bytes': answer(
    [OK],
    Buffer.from('610062 07 63e280ae64e90d0a09656e6480'.replaceAll(' ', ''), 'hex'),
  ),
};

const REDIRECTS = [300, 301, 302, 303, 304, 305, 307, 308];

/** The answer at `/status/<three digits>`; a redirect leads to `/ok` of the same receiver. */
export function statusAnswer(code: string): HostileAnswer {
  const location = REDIRECTS.includes(Number(code)) ? ['Location: /ok'] : [];
  return sends(`HTTP/1.1 ${code} Whatever`, ...location, 'Content-Length: 0', '', '');
}

/** The answer at `/retry-after/<status>/<value>`. */
export function retryAfterAnswer(code: string, value: string): HostileAnswer {
  return sends(`HTTP/1.1 ${code} Busy`, `Retry-After: ${value}`, 'Content-Length: 0', '', '');
}

/** The answer at `/after/<ms>`. */
export function lateAnswer(ms: number): HostileAnswer {
  return async (socket, request, closing) => {
    await sleep(ms, closing);
    if (!socket.destroyed) HOSTILE_ANSWERS['/ok']!(socket, request, closing);
  };
}

import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from './error-answer.ts';

/** What Node's parser finds wrong with a connection, before there is a request. */
const FAULTS: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than 16 KiB; send fewer or shorter ones'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large; send the body without them'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive; send it faster or in smaller parts'],
};
const MALFORMED = [400, 'The request is not valid HTTP/1.1; mend its first line and headers'] as const;

/** Answers what is no valid HTTP with the error body of the interface, and closes the connection. */
export function answerConnectionFaults(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !isAnswerable(socket)) {
      socket.destroy();
      return;
    }
    const [status, message] = FAULTS[error.code ?? ''] ?? MALFORMED;
    socket.end(rawAnswer(status, message), () => socket.destroy());
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.end(rawAnswer(405, 'CONNECT is not possible here; see the API reference for the paths'));
  });
}

/** Whether nothing of another answer has gone out on this connection. */
function isAnswerable(socket: Duplex): boolean {
  const answer = (socket as { _httpMessage?: { _headerSent: boolean } | null })._httpMessage;
  return socket.writable && !answer?._headerSent;
}

function rawAnswer(status: number, message: string): string {
  const body = errorBody(status, message);
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${body.error}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${crypto.randomUUID()}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...(status === 405 ? ['Allow: GET, HEAD, POST, DELETE'] : []),
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}

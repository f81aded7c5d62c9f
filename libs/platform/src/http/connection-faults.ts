import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AnswerHeaders } from './enter-request.ts';
import { errorBody } from './error-answer.ts';

/** What Node's parser finds wrong with a connection, before there is a request. */
const FAULTS: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than 16 KiB; send fewer or shorter ones'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large; send the body without them'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive; send it faster or in smaller parts'],
};
const MALFORMED = [400, 'The request is not valid HTTP/1.1; correct its first line and headers'] as const;

/** After so long nobody is waited for who does not take the last that is said. */
const LAST_WORD_MS = 5_000;

/** Answers what is no valid HTTP with the error body of the interface, and closes the connection. */
export function answerConnectionFaults(server: Server, answerHeaders: AnswerHeaders): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const answer = answerUnderWay(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else if (answer?.req.complete) closeAfter(answer, socket);
    else if (answer?.headersSent) socket.destroy();
    else answerFault(error, socket, answerHeaders);
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node lets go of the connection: it hears no error of it any more, which would end the process, and a server that closes waits for it.
    socket.on('error', () => undefined);
    const message = 'CONNECT is not possible here; see the API reference for the paths';
    if (answerUnderWay(socket)) socket.destroy();
    else sayLast(socket, rawAnswer(405, message, headersFor(socket, answerHeaders)));
  });
}

function answerFault(
  { code = '' }: NodeJS.ErrnoException,
  socket: Duplex,
  answerHeaders: AnswerHeaders,
): void {
  const [status, message] = FAULTS[code] ?? MALFORMED;
  sayLast(socket, rawAnswer(status, message, headersFor(socket, answerHeaders)));
}

/** Sends the last there is to say and ends the connection, also where the other side does not end theirs, or does not read. */
function sayLast(socket: Duplex, text: string): void {
  const end = (): unknown => socket.destroy();
  (socket as Socket).setTimeout(LAST_WORD_MS, end);
  socket.end(text, end);
}

/** What is known here of who sent a request is the connection alone. */
function headersFor(socket: Duplex, answerHeaders: AnswerHeaders): string[] {
  const { remoteAddress } = socket as Partial<Socket>;
  const headers = answerHeaders({ socket: { remoteAddress }, rawHeaders: [] });
  return Array.from(headers, ([name, value]) => `${name}: ${value}`);
}

/** What Node is answering on this connection; it has no public name. */
function answerUnderWay(socket: Duplex): ServerResponse | null | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
}

/**
 * The fault lies in what came after a whole request: that one keeps its answer. "Bad Request" in its place would deny
 * what may have been accepted.
 */
function closeAfter(answer: ServerResponse, socket: Duplex): void {
  socket.pause();
  if (!answer.headersSent) answer.setHeader('Connection', 'close');
  answer.once('close', () => socket.end());
}

function rawAnswer(status: number, message: string, headers: readonly string[]): string {
  const body = errorBody(status, message);
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${body.error}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${crypto.randomUUID()}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
    ...(status === 405 ? ['Allow: GET, HEAD, POST, DELETE'] : []),
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}

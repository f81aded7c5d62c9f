import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AnswerHeaders } from '../requests/enter-request.ts';
import { errorBody, type ErrorAnswer } from '../answers/error-answer.ts';
import { originForm } from '../routing/origin-form.ts';
import { decodable } from '../routing/stray-percents.ts';
import { closeWith } from './pipelined-requests.ts';
import { isUnused, keepUnused } from './unused-connections.ts';

/** The answers to errors of Node's HTTP parser, by their codes. */
const FAULTS: Record<string, readonly [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than 16 KiB; send fewer or shorter ones'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large; send the body without them'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive; send it faster or in smaller parts'],
};
const MALFORMED = [400, 'The request is not valid HTTP/1.1; correct its first line and headers'] as const;

/** A request line, used for methods that the parser does not know. */
const FIRST_LINE = /^([!#$%&'*+.^_`|~\w-]{1,32}) (\S+) HTTP\/1\.[01]\r?\n/;

/** An error of the parser: it occurred in `rawPacket`, at `bytesParsed`. */
type ConnectionFault = NodeJS.ErrnoException & {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
};

/** How long the client may take to read the last answer. */
const CLOSE_TIMEOUT_MS = 5_000;

/**
 * Answers invalid HTTP with the error body of the API, and closes the connection.
 *
 * @param unrouted the answer to a method that no route has for a path
 */
export function answerConnectionFaults(
  server: Server,
  answerHeaders: AnswerHeaders,
  unrouted: (method: string, path: string) => ErrorAnswer,
): void {
  server.on('clientError', (error: ConnectionFault, socket: Duplex) => {
    const answer = currentResponse(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    // Node limits the time until the first headers from the beginning of a connection. A proxy could take the 408 for the answer to a request
    // that it is just sending.
    else if (isUnused(socket as Socket)) keepUnused(socket as Socket, server);
    else if (answer?.req.complete) closeAfter(answer, socket);
    else if (answer?.headersSent) sendAndClose(socket);
    else {
      const fault = answerTo(error, unrouted);
      // Only for the log: a handler may still write to this response.
      if (answer) answer.statusCode = fault.body.statusCode;
      sendAndClose(socket, rawAnswer(fault, headersFor(socket, answerHeaders)));
    }
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node detaches the connection: its errors are unhandled and would end the process, and a server that closes waits for it.
    socket.on('error', () => undefined);
    const body = errorBody(405, 'CONNECT is not allowed here; see the API reference for the paths');
    const answer = { body, headers: { Allow: 'GET, HEAD, POST, DELETE' } };
    if (currentResponse(socket)) socket.destroy();
    else sendAndClose(socket, rawAnswer(answer, headersFor(socket, answerHeaders)));
  });
}

function answerTo(
  fault: ConnectionFault,
  unrouted: (method: string, path: string) => ErrorAnswer,
): ErrorAnswer {
  const [, method, target] = firstLineOf(fault) ?? [];
  if (method !== undefined && target !== undefined)
    return unrouted(method, decodable(originForm(target)).split(/[?#]/, 1)[0]!);
  const [status, message] = FAULTS[fault.code ?? ''] ?? MALFORMED;
  return { body: errorBody(status, message), headers: {} };
}

/** The request line, if only its method is invalid. */
function firstLineOf({ code, rawPacket, bytesParsed = 0 }: ConnectionFault): RegExpExecArray | null {
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return null;
  const start = rawPacket.subarray(0, bytesParsed).lastIndexOf('\n') + 1;
  return FIRST_LINE.exec(rawPacket.toString('latin1', start));
}

/** Sends an answer, or what was already written of one, and closes the connection, even if the other side does not close it or does not read. */
function sendAndClose(socket: Duplex, text?: string): void {
  const end = (): unknown => socket.destroy();
  (socket as Socket).setTimeout(CLOSE_TIMEOUT_MS, end);
  socket.end(text, end);
}

/** The id is that of the request if its headers have arrived. Otherwise only the address of the connection is known. */
function headersFor(socket: Duplex, answerHeaders: AnswerHeaders): string[] {
  const { remoteAddress } = socket as Partial<Socket>;
  const id = currentResponse(socket)?.getHeader('X-Request-Id') ?? crypto.randomUUID();
  const headers = answerHeaders({ socket: { remoteAddress }, rawHeaders: [] });
  return [`X-Request-Id: ${String(id)}`, ...Array.from(headers, ([name, value]) => `${name}: ${value}`)];
}

/** The response that Node is writing to this connection; there is no public API for it. */
function currentResponse(socket: Duplex): ServerResponse | null | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
}

/**
 * The fault is in the data after a complete request, which must still get its own answer: "Bad Request" would be wrong if the request
 * has been accepted.
 */
function closeAfter(answer: ServerResponse, socket: Duplex): void {
  socket.pause();
  if (!answer.headersSent) closeWith(answer);
  answer.once('close', () => socket.end());
}

function rawAnswer({ body, headers: own }: ErrorAnswer, headers: readonly string[]): string {
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${body.statusCode} ${body.error}`,
    `Date: ${new Date().toUTCString()}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
    ...Object.entries(own).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}

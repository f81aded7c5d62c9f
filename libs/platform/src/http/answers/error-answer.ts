import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REASON_PHRASES, startTimeout, type Refusal, type ErrorBody } from '@posthorn/kernel';
import { closeWith } from '../connections/pipelined-requests.ts';

const RETRY_AFTER_SECONDS = 1;
/** The connection of a caller who sends no more of a discarded body for this long is closed. */
const SILENCE_MS = 2_000;

/** An answer other than success, ready to be written. */
export interface ErrorAnswer {
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** Renders an error body, and sets `Content-Type` and other headers that belong to it. */
export type ErrorRenderer = (response: ServerResponse, body: ErrorBody) => string;

/**
 * Turns a refusal into its answer.
 *
 * @param publicUrl the base URL of the pages that explain errors, without a trailing slash
 */
export function answerOf(refusal: Refusal, publicUrl: string): ErrorAnswer {
  const { allowedEmails, allowedDomains, docsPage, retryAfterSeconds, challenge } = refusal.details;
  const retryAfter = retryAfterSeconds ?? (refusal.statusCode === 503 ? RETRY_AFTER_SECONDS : undefined);
  return {
    body: {
      ...errorBody(refusal.statusCode, refusal.message),
      ...(allowedEmails && { allowedEmails }),
      ...(allowedDomains && { allowedDomains }),
      ...(docsPage !== undefined && { docsUrl: `${publicUrl}/docs/errors/${encodeURIComponent(docsPage)}` }),
    },
    headers: {
      ...(retryAfter !== undefined && { 'Retry-After': String(Math.ceil(retryAfter)) }),
      ...(challenge !== undefined && { 'WWW-Authenticate': challenge }),
    },
  };
}

/** The error body of a status that has no details. */
export function errorBody(statusCode: number, message: string): ErrorBody {
  const phrases: Record<number, string | undefined> = REASON_PHRASES;
  return { statusCode, error: phrases[statusCode] ?? STATUS_CODES[statusCode] ?? 'Error', message };
}

/** Writes an answer. If a response has begun already, the connection is destroyed, so that a truncated response is recognised as such. */
export function writeError(
  response: ServerResponse,
  answer: ErrorAnswer,
  render: ErrorRenderer = renderJson,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.end(writeHead(response, answer, render));
}

/**
 * Answers before the body has been read, and closes the connection only when the caller has finished sending, or sends nothing any more: many
 * callers read the answer only after their whole body, and one who writes to a closed connection would not see it. The server's limit for
 * the time of a request ends this at last.
 */
export function writeErrorEarly(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ErrorAnswer,
  render: ErrorRenderer = renderJson,
): void {
  closeWith(response);
  response.write(writeHead(response, answer, render));
  const finish = (): void => {
    cancelWaiting();
    response.end();
  };
  const cancelWaiting = onSilence(request.socket, finish);
  request.once('end', finish).once('close', finish).resume();
}

/** Calls `act` when nothing arrives on a connection for a while. @returns cancels it */
function onSilence(socket: Socket, act: () => void): () => void {
  let bytesBefore = socket.bytesRead;
  const check = (): void => {
    if (socket.bytesRead === bytesBefore) return act();
    bytesBefore = socket.bytesRead;
    cancelTimeout = startTimeout(SILENCE_MS, check);
  };
  let cancelTimeout = startTimeout(SILENCE_MS, check);
  return () => cancelTimeout();
}

function writeHead(response: ServerResponse, { body, headers }: ErrorAnswer, render: ErrorRenderer): string {
  response.statusCode = body.statusCode;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.removeHeader('Content-Encoding');
  const text = render(response, body);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  return text;
}

/** Renders the error body of the API. */
export function renderJson(response: ServerResponse, body: ErrorBody): string {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  return JSON.stringify(body);
}

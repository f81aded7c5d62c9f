import { Refusal } from '@posthorn/kernel';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { inThisRequest } from '../logging/request-context.ts';
import { BodyPieces } from './body-pieces.ts';
import { bodyTooLarge } from './body-too-large.ts';
import { shareOf } from './enter-request.ts';
import { answerOf, writeErrorEarly } from './error-answer.ts';
import { LazyBody } from './lazy-body.ts';
import { routedPath } from './routed-path.ts';
import { parseStrictJson } from './strict-json.ts';

export interface JsonBodyOptions {
  /** The largest body, in bytes. */
  readonly maxBytes: number;
  /** Other bounds, by path in lower case without a slash at its end. */
  readonly maxBytesByPath?: Readonly<Record<string, number>>;
  /** The key of the array whose items are judged each by itself, by path as above. */
  readonly batchByPath?: Readonly<Record<string, string>>;
  /** What is said of a body that is missing or is no object, by path as above; elsewhere a general sentence is. */
  readonly noObjectByPath?: Readonly<Record<string, Refusal>>;
  /**
   * Says who sends a body of more than 64 KiB, and throws a refusal for whoever may not, before more of it is read than its beginning. One sender may hold
   * half of the bytes that may be in work, or the largest body. Default: everybody may, and hold all.
   */
  readonly admitLongBody?: ((request: Request, response: Response) => Promise<string>) | undefined;
}

/** The largest body of any path, in bytes. */
export function largestOf({ maxBytes, maxBytesByPath = {} }: JsonBodyOptions): number {
  return Math.max(maxBytes, ...Object.values(maxBytesByPath));
}

/** How much of a body is read from anybody. More could fill the memory that there is for bodies, so its sender is authenticated first. */
const BYTES_FROM_ANYBODY = 64 * 1024;

const NO_OBJECT = new Refusal(400, 'The body must be a JSON object');
const MISSING = new Refusal(400, 'The body is missing; send a JSON object');

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON bodies. One that is too large (413), one too many at once (503) and a long one whose sender may not send it (401) are refused at
 * once; any other fault is thrown when the body is first asked for, so that a missing credential, an unknown path or a missing role is
 * told first.
 */
export function readJsonBody(options: JsonBodyOptions): RequestHandler {
  const { maxBytes, maxBytesByPath = {}, batchByPath = {}, noObjectByPath = {}, admitLongBody } = options;
  return (request: Request, response: Response, next: NextFunction) => {
    if (!METHODS_WITH_BODY.has(request.method)) return next();
    const path = routedPath(request.path);
    const missing = noObjectByPath[path] ?? MISSING;
    const fault = faultOfHeaders(request, missing);
    // Whether a body in chunks is empty shows only at its end.
    if (fault && !isChunked(request)) {
      failWhenAsked(request, fault);
      return next();
    }
    const max = maxBytesByPath[path] ?? maxBytes;
    // The bytes come from a connection, which works for no request.
    const admit = inThisRequest(async () => admitLongBody?.(request, response));
    const done = inThisRequest((outcome: unknown) => {
      if (outcome instanceof Refusal) return writeErrorEarly(request, response, answerOf(outcome, ''));
      if (!Buffer.isBuffer(outcome)) return next(outcome);
      if (fault && outcome.length > 0) failWhenAsked(request, fault);
      else if (outcome.length === 0) failWhenAsked(request, missing);
      else parseWhenAsked(request, outcome, noObjectByPath[path] ?? NO_OBJECT, batchByPath[path]);
      next();
    });
    receive(request, { max, admit }, done);
  };
}

/**
 * The body of a request, for a route that can do without; undefined: there is none, or an empty one.
 *
 * @throws Refusal what is wrong with one that is there
 */
export function bodyIfAny(request: Request): object | undefined {
  try {
    return request.body as object | undefined;
  } catch (fault) {
    if (fault === MISSING) return undefined;
    throw fault;
  }
}

function isChunked({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined;
}

function faultOfHeaders(request: Request, missing: Refusal): Refusal | undefined {
  const { headers } = request;
  if (!isChunked(request) && (headers['content-length'] ?? '0') === '0') return missing;
  if (!isJson(headers['content-type'])) return notJson();
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new Refusal(415, 'The body must not be compressed; leave the header `Content-Encoding` out');
  }
  // Node takes the chunks apart, and leaves what is in them as it is. RFC 9112, section 6.1, would have 501; but it is the same fault as above.
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') {
    return new Refusal(415, 'The body must not be compressed; `Transfer-Encoding` may only be chunked');
  }
  return undefined;
}

/** The refusal of a body of another type. */
export function notJson(): Refusal {
  return new Refusal(415, 'The header `Content-Type` must be application/json, in UTF-8');
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset));
}

/**
 * Gathers the bytes of a body, within the bounds. A caller who goes away before its end gets no answer. Room is taken for what has come,
 * not for what is announced: else a few connections without a key could announce much, send nothing and keep everybody out. For the same
 * reason a request counts as one that is worked on only when all of its body has come.
 *
 * @param bounds how many bytes it may have, and who may send more than its beginning
 * @param done told of the body, or of what was thrown in its place
 */
function receive(
  request: Request,
  { max, admit }: { readonly max: number; readonly admit: () => Promise<string | undefined> },
  done: (outcome: unknown) => void,
): void {
  const share = shareOf(request);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > max) return done(bodyTooLarge(max, announced));
  share?.wait();
  const pieces = new BodyPieces();
  let isJudged = false;
  const onData = (piece: Buffer): void => {
    pieces.add(piece);
    const refusal = pieces.bytes > max ? bodyTooLarge(max) : share?.hold(pieces.bytes);
    if (refusal) return stop(refusal);
    if (isJudged || pieces.bytes <= BYTES_FROM_ANYBODY) return;
    isJudged = true;
    request.pause();
    admit().then(goOn, stop);
  };
  const goOn = (sender: string | undefined): void => {
    const refusal = sender === undefined ? undefined : share?.belongTo(sender);
    if (refusal) stop(refusal);
    else request.resume();
  };
  const onEnd = (): void => stop(share?.goOn() ?? pieces.whole());
  const stop = (outcome: unknown): void => {
    // While its sender goes on sending, others have the room: otherwise several bodies that fill it together would all be refused.
    if (!Buffer.isBuffer(outcome)) share?.drop();
    // What is left of it is heard and forgotten.
    request.off('data', onData).off('end', onEnd).resume();
    done(outcome);
  };
  request.on('data', onData).on('end', onEnd);
}

function parseBody(bytes: Buffer, noObject: Refusal, batch: string | undefined): object {
  const value = parseStrictJson(decode(bytes), batch);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw noObject;
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal(400, 'The body is not valid UTF-8; encode it as UTF-8');
  }
}

/** Parsing a large body can take seconds, so it is not done for callers who are refused before. */
function parseWhenAsked(request: Request, bytes: Buffer, noObject: Refusal, batch: string | undefined): void {
  request.body = new LazyBody(() => parseBody(bytes, noObject, batch));
}

function failWhenAsked(request: Request, refusal: Refusal): void {
  request.body = new LazyBody(() => {
    throw refusal;
  });
}

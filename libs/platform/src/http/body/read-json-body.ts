import { Refusal } from '@posthorn/kernel';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { bindRequest } from '../../logging/request-context.ts';
import { answerOf, writeErrorEarly } from '../answers/error-answer.ts';
import { LazyBody } from './lazy-body.ts';
import { receiveBody } from './receive-body.ts';
import { routedPath } from '../routing/routed-path.ts';
import { parseStrictJson } from './strict-json.ts';
import type { UnauthenticatedBodies } from './unauthenticated-bodies.ts';

export interface JsonBodyOptions {
  /** The maximum size of a body, in bytes. */
  readonly maxBytes: number;
  /** Different limits, by path in lower case without a trailing slash. */
  readonly maxBytesByPath?: Readonly<Record<string, number>>;
  /** The key of the array whose items are validated separately, by path as above. */
  readonly batchByPath?: Readonly<Record<string, string>>;
  /** The refusal of a body that is missing or not an object, by path as above; a general one otherwise. */
  readonly refusalByPath?: Readonly<Record<string, Refusal>>;
  /**
   * Identifies the sender of a body of more than 64 KiB before the rest of it is read, or throws a refusal. A single sender may hold half of the bytes
   * in flight, or the largest body. Default: everybody is admitted and may hold all.
   */
  readonly admitLongBody?: ((request: Request, response: Response) => Promise<string>) | undefined;
}

/** The maximum size of a body of any path, in bytes. */
export function largestOf({ maxBytes, maxBytesByPath = {} }: JsonBodyOptions): number {
  return Math.max(maxBytes, ...Object.values(maxBytesByPath));
}

const NOT_OBJECT = new Refusal(400, 'The body must be a JSON object');
/** The same for `[]` and `null`, which some clients send where they are given no data: Laravel's and axios. */
const NO_CONTENT = new Refusal(400, NOT_OBJECT.message);
const MISSING = new Refusal(400, 'The body is missing; send a JSON object');

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads JSON bodies. A body that is too large (413), above the limits (503) or long and unauthenticated (401) is refused at once; any other
 * fault is thrown when the body is first accessed, so that a missing credential, an unknown path or a missing role is reported first.
 */
export function readJsonBody(
  options: JsonBodyOptions,
  unauthenticated: UnauthenticatedBodies,
): RequestHandler {
  const { maxBytes, maxBytesByPath = {}, batchByPath = {}, refusalByPath = {}, admitLongBody } = options;
  return (request: Request, response: Response, next: NextFunction) => {
    if (!METHODS_WITH_BODY.has(request.method)) return next();
    const path = routedPath(request.path);
    const missing = refusalByPath[path] ?? MISSING;
    const fault = faultOfHeaders(request, missing);
    // Whether a chunked body is empty is known only at its end.
    if (fault && !isChunked(request)) {
      failLazily(request, fault);
      return next();
    }
    const max = maxBytesByPath[path] ?? maxBytes;
    // The data events of a connection have no request context.
    const admit = bindRequest(async () => admitLongBody?.(request, response));
    const done = bindRequest((outcome: unknown) => {
      if (outcome instanceof Refusal) return writeErrorEarly(request, response, answerOf(outcome, ''));
      if (!Buffer.isBuffer(outcome)) return next(outcome);
      if (fault && outcome.length > 0) failLazily(request, fault);
      else if (outcome.length === 0) failLazily(request, missing);
      else parseLazily(request, outcome, refusalByPath[path] ?? NOT_OBJECT, batchByPath[path]);
      next();
    });
    receiveBody(request, { max, admit, unauthenticated }, done);
  };
}

/**
 * The body of a request where it is optional; undefined: there is none, or it has no content: it is empty, `[]` or `null`.
 *
 * @throws Refusal when there is one that is invalid
 */
export function bodyIfAny(request: Request): object | undefined {
  try {
    return request.body as object | undefined;
  } catch (fault) {
    if (fault === MISSING || fault === NO_CONTENT) return undefined;
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
  // Node decodes the chunks, but no other encoding. RFC 9112, section 6.1, suggests 501; but it is the same fault as above.
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
  const charsets = parameters.filter((parameter) => parameter.startsWith('charset'));
  return type === 'application/json' && charsets.every((charset) => /^charset="?utf-?8"?$/.test(charset));
}

function parseBody(bytes: Buffer, notObject: Refusal, batch: string | undefined): object {
  const value = parseStrictJson(decode(bytes), batch);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const hasContent = value !== null && !(Array.isArray(value) && value.length === 0);
  throw hasContent || notObject !== NOT_OBJECT ? notObject : NO_CONTENT;
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal(400, 'The body is not valid UTF-8; encode it as UTF-8');
  }
}

/** Parsing a large body can take seconds, so it is not done for requests that are refused anyway. */
function parseLazily(request: Request, bytes: Buffer, notObject: Refusal, batch: string | undefined): void {
  request.body = new LazyBody(() => parseBody(bytes, notObject, batch));
}

function failLazily(request: Request, refusal: Refusal): void {
  request.body = new LazyBody(() => {
    throw refusal;
  });
}

import { randomUUID } from 'node:crypto';
import { Refusal } from '@posthorn/kernel';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { httpDuration } from '../../metrics/metrics.ts';
import { bindRequest, requestContext } from '../../logging/request-context.ts';
import type { Span, Tracer } from '../../tracing/tracer.ts';
import type { SentBy } from './client-address.ts';
import { answerOf, type ErrorRenderer, writeErrorEarly } from '../answers/error-answer.ts';
import { headerValues } from './header-values.ts';
import type { InFlightShare, InFlight } from './in-flight.ts';
import { UNREAD } from '../message-classes.ts';
import { routedPath } from '../routing/routed-path.ts';
import type { UnreadAnswers } from '../answers/unread-answers.ts';

const WELL_FORMED_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

const SECURITY_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
];
const HTTPS_ONLY = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/** In any letter case, as the router matches them. */
const HEALTH_CHECKS = /^\/health\//i;

const WITHOUT_BODY = new Set(['GET', 'HEAD']);

const shares = new WeakMap<Request, InFlightShare>();

const spans = new WeakMap<Request, Span>();

/** The trace context of a request, for work that it causes; undefined: traces are off. */
export function traceparentOf(request: Request): string | undefined {
  return spans.get(request)?.traceparent;
}

/** The share of a request in what is in flight; undefined for requests that are exempt from the limits. */
export function shareOf(request: Request): InFlightShare | undefined {
  return shares.get(request);
}

/**
 * Makes a sender responsible for a request.
 *
 * @throws Refusal (503) when too much of what is in flight is the same sender's
 */
export function assignRequest(request: Request, sender: string): void {
  const refusal = shareOf(request)?.assignTo(sender);
  if (refusal !== undefined) throw refusal;
}

export interface EntryOptions {
  readonly logger: Logger;
  readonly publicUrl: string;
  /** Whether it is reached over TLS; browsers are then told to use nothing else. */
  readonly isSecure: boolean;
  readonly inFlight: InFlight;
  readonly unread: UnreadAnswers;
  /** Additional headers of every response; handlers may override them. */
  readonly answerHeaders: AnswerHeaders;
  /** Prefixes of paths, in lower case, that are exempt from the limits. Requests with a body never are: somebody could leave any number of them unfinished. */
  readonly alwaysAdmitted: readonly string[];
  /** Traces the requests; undefined: traces are off. */
  readonly tracer?: Tracer | undefined;
  /** Renders errors. Default: JSON. */
  readonly renderError?: ErrorRenderer | undefined;
}

/** Response headers that depend on the sender of a request. */
export type AnswerHeaders = (request: SentBy) => Iterable<readonly [name: string, value: string]>;

/** The first middleware: it sets the request id and the headers of every response, enforces the limits, and logs the request at its end. */
export function enterRequest(options: EntryOptions): RequestHandler {
  const { logger, publicUrl, isSecure, unread, answerHeaders, tracer, renderError } = options;
  const headers = isSecure ? [...SECURITY_HEADERS, HTTPS_ONLY] : SECURITY_HEADERS;
  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(request);
    if (tracer !== undefined) traceRequest(tracer, request, response, requestId);
    response.setHeader('X-Request-Id', requestId);
    for (const [name, value] of headers) response.setHeader(name, value);
    for (const [name, value] of answerHeaders(request)) response.setHeader(name, value);
    requestContext.run({ requestId }, () => {
      response.on(UNREAD, () => {
        shareOf(request)?.wait();
        unread.add(response);
      });
      const refusal = admit(request, options);
      const leave = bindRequest(() => {
        shareOf(request)?.leave();
        logAccess(logger, request, response, startedAt);
      });
      response.on('close', leave);
      if (refusal) writeErrorEarly(request, response, answerOf(refusal, publicUrl), renderError);
      else next();
    });
  };
}

function requestIdOf(request: Request): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && WELL_FORMED_REQUEST_ID.test(given) ? given : randomUUID();
}

/** The span has no path, because it can contain a token. Health checks are not traced. */
function traceRequest(tracer: Tracer, request: Request, response: Response, requestId: string): void {
  if (isHealthCheck(request)) return;
  const { method } = request;
  const parent = request.headers['traceparent'];
  const span = tracer.start(method, {
    kind: 'server',
    parent: typeof parent === 'string' ? parent : undefined,
    attributes: { 'http.request.method': method, 'posthorn.request_id': requestId },
  });
  spans.set(request, span);
  response.once('close', () => {
    const route = routePatternOf(request);
    const status = statusOf(response);
    span.end({
      name: route === undefined ? method : `${method} ${route}`,
      attributes: { 'http.route': route, 'http.response.status_code': status },
      fault: (status ?? 0) >= 500 ? String(status) : response.writableFinished ? undefined : 'cut_short',
    });
  });
}

/** The status of the answer; undefined: the connection ended before there was one. Invalid HTTP is answered past the response. */
function statusOf({ headersSent, statusCode }: Response): number | undefined {
  return headersSent || statusCode >= 400 ? statusCode : undefined;
}

function isHealthCheck({ originalUrl }: Request): boolean {
  return HEALTH_CHECKS.test(originalUrl);
}

function admit(request: Request, { inFlight, alwaysAdmitted }: EntryOptions): Refusal | undefined {
  const fault = faultOfHead(request);
  if (fault !== undefined) return fault;
  const path = routedPath(request.path);
  if (WITHOUT_BODY.has(request.method) && alwaysAdmitted.some((start) => path.startsWith(start)))
    return undefined;
  const entry = inFlight.enter();
  if (entry instanceof Refusal) return entry;
  shares.set(request, entry);
  return undefined;
}

/** The refusal of a request that a proxy in front may have read in another way than we would. */
function faultOfHead(request: Request): Refusal | undefined {
  const hosts = headerValues(request, 'host').length;
  if (hosts === 0 && request.httpVersion === '1.1')
    return new Refusal(400, 'The header `Host` is missing; HTTP/1.1 asks for it');
  // A proxy in front may have used another one than we would (RFC 9112, section 3.2).
  if (hosts > 1) return new Refusal(400, 'There is more than one `Host` header; send exactly one');
  // A proxy of that version takes the chunks for further requests, so the connection must be closed (RFC 9112, section 6.1).
  if (request.httpVersion === '1.0' && request.headers['transfer-encoding'] !== undefined)
    return new Refusal(
      400,
      'The request has `Transfer-Encoding`, which HTTP/1.0 does not have; send HTTP/1.1, or `Content-Length` instead',
    );
  return undefined;
}

function logAccess(logger: Logger, request: Request, response: Response, startedAt: number): void {
  const level = isHealthCheck(request) ? 'debug' : 'info';
  const { method } = request;
  const status = statusOf(response);
  const durationMs = performance.now() - startedAt;
  const route = routePatternOf(request);
  httpDuration.observe({ method, route: route ?? 'none', status: status ?? 'none' }, durationMs / 1_000);
  logger[level](
    {
      method,
      route: route ?? pathOf(request),
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      ...(!response.writableFinished && { cutShort: true }),
    },
    'request',
  );
}

/** The pattern of the route, which contains no ids or addresses; undefined: no route matched. */
function routePatternOf(request: Request): string | undefined {
  const { path } = (request.route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : undefined;
}

function pathOf({ originalUrl }: Request): string {
  return (originalUrl.split('?', 1)[0] ?? '').slice(0, 200);
}

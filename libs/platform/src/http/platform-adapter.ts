import { createServer } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Request, type Response } from 'express';
import { answerConnectionFaults } from './connections/connection-faults.ts';
import type { AnswerHeaders } from './requests/enter-request.ts';
import { type ErrorRenderer, writeError } from './answers/error-answer.ts';
import { JsonText } from './answers/json-text.ts';
import { answerToUnrouted, type RouterLayer } from './routing/known-methods.ts';
import { messageClassesOf } from './message-classes.ts';
import { withOriginForm } from './routing/origin-form.ts';
import { parseQuery } from './routing/parse-query.ts';
import { limitPipelining } from './connections/pipelined-requests.ts';
import { useKept, watchConnections } from './connections/unused-connections.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

const SERVER_OPTIONS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 15_000,
  // 50 MiB over a slow line.
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
  // Answered by us, with the error body.
  requireHostHeader: false,
} as const;

/** Nest's Express adapter without its slow parts (`res.json`, ETags), and with our own error responses. */
export class PlatformAdapter extends ExpressAdapter {
  /**
   * @param isDraining whether this process is shutting down, so that connections must be closed
   * @param answerHeaders additional headers of every response
   * @param renderError renders errors; default: JSON
   */
  constructor(
    private readonly isDraining: () => boolean,
    private readonly answerHeaders: AnswerHeaders,
    private readonly renderError?: ErrorRenderer,
  ) {
    super(express().disable('x-powered-by').disable('etag').set('query parser', parseQuery));
  }

  override initHttpServer(): void {
    const app = this.getInstance<Express>();
    const listener = useKept(limitPipelining(withOriginForm(app)));
    const server = createServer({ ...SERVER_OPTIONS, ...messageClassesOf(app, this.isDraining) }, listener);
    // A client may close its side after sending its request and still wait for the answer; Node would close the connection.
    Object.assign(server, { httpAllowHalfOpen: true });
    // Unknown expectations may be ignored (RFC 9110, section 10.1.1).
    server.on('checkExpectation', listener);
    watchConnections(server);
    answerConnectionFaults(server, this.answerHeaders, (method, path) =>
      answerToUnrouted(this.routerLayers(), method, path),
    );
    this.setHttpServer(server);
  }

  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (statusCode !== undefined) response.statusCode = statusCode;
    if (body === undefined || body === null) return response.end();
    if (body instanceof Uint8Array) return end(response, body, 'application/octet-stream');
    if (body instanceof JsonText) return end(response, body.text, JSON_TYPE);
    if (typeof body === 'string') return end(response, body, 'text/plain; charset=utf-8');
    return end(response, JSON.stringify(body), JSON_TYPE);
  }

  override setNotFoundHandler(): void {
    this.getInstance<Express>().use((request: Request, response: Response) => {
      const answer = answerToUnrouted(this.routerLayers(), request.method, request.path);
      writeError(response, answer, this.renderError);
    });
  }

  /** The layers of Express' router. */
  routerLayers(): readonly RouterLayer[] {
    return this.getInstance<Express>().router.stack as unknown as RouterLayer[];
  }
}

function end(response: Response, body: string | Uint8Array, contentType: string): void {
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

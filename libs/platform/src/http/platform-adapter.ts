import { createServer } from 'node:http';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Request, type Response } from 'express';
import { answerConnectionFaults } from './connection-faults.ts';
import type { AnswerHeaders } from './enter-request.ts';
import { type ErrorRenderer, writeError } from './error-answer.ts';
import { JsonText } from './json-text.ts';
import { answerToUnrouted, type RouterLayer } from './known-methods.ts';
import { messageClassesOf } from './message-classes.ts';
import { withOriginForm } from './origin-form.ts';
import { parseQuery } from './parse-query.ts';
import { boundPipelining } from './pipelined-requests.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

const SERVER_OPTIONS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 15_000,
  // 50 MiB over a slow line.
  requestTimeout: 120_000,
  // Longer than the 60 s of common load balancers, which otherwise reuse a connection that we are closing.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5_000,
  // Answered by us, with the error body.
  requireHostHeader: false,
} as const;

/** Express as Nest uses it, without what makes it slow (`res.json`, ETags) and with our answers where Nest has its own. */
export class PlatformAdapter extends ExpressAdapter {
  /**
   * @param isDraining whether this process is going away, so that connections are not to be kept
   * @param answerHeaders more headers of every answer
   * @param renderError what an answer other than success says; default: JSON
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
    const listener = boundPipelining(withOriginForm(app));
    const server = createServer({ ...SERVER_OPTIONS, ...messageClassesOf(app) }, listener);
    // Whoever closes their side when all is said waits for the answer; Node would hang up, though the request is done.
    Object.assign(server, { httpAllowHalfOpen: true });
    // An expectation that we don't know may be ignored (RFC 9110, section 10.1.1).
    server.on('checkExpectation', listener);
    answerConnectionFaults(server, this.answerHeaders, (method, path) =>
      answerToUnrouted(this.routerLayers(), method, path),
    );
    this.setHttpServer(server);
  }

  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    if (body instanceof StreamableFile) return super.reply(response, body, statusCode) as unknown;
    if (statusCode !== undefined) response.statusCode = statusCode;
    if (this.isDraining()) response.setHeader('Connection', 'close');
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

  /** What Express looks for a route in. */
  routerLayers(): readonly RouterLayer[] {
    return this.getInstance<Express>().router.stack as unknown as RouterLayer[];
  }
}

function end(response: Response, body: string | Uint8Array, contentType: string): void {
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

import type { Server } from 'node:http';
import { type DynamicModule, type INestApplication, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Logger } from 'pino';
import { HealthController } from '../health/health.controller.ts';
import { Health, type HealthChecks } from '../health/health.ts';
import { MetricsServer } from '../metrics/metrics-server.ts';
import { watchRequests } from '../metrics/metrics.ts';
import { NestPinoLogger } from '../logging/nest-pino-logger.ts';
import type { HttpSettings } from '../settings/connection-settings.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { type AnswerHeaders, enterRequest } from './requests/enter-request.ts';
import { ErrorFilter, type ErrorFilterOptions } from './answers/error-filter.ts';
import { InFlight, type InFlightLimits } from './requests/in-flight.ts';
import { literalPathsFirst } from './routing/known-methods.ts';
import { PlatformAdapter } from './platform-adapter.ts';
import { providersOf } from './providers-of.ts';
import { type JsonBodyOptions, largestOf, readJsonBody } from './body/read-json-body.ts';
import { escapeStrayPercents } from './routing/stray-percents.ts';
import { UnauthenticatedBodies } from './body/unauthenticated-bodies.ts';
import { UnreadAnswers } from './answers/unread-answers.ts';

const DEFAULT_LIMITS: InFlightLimits = { maxRequests: 1_000, maxBytes: 256 * 1024 * 1024 };
const HEALTH_APP_MAX_BYTES = 1024;
/** How many of the requests in flight a single sender may have: if all of them wait for something of its own, others are still served. */
const SENDER_SHARE = 9 / 10;
/** How much of the bytes in flight may be held by bodies that are arriving from callers who are not authenticated yet. */
const UNAUTHENTICATED_SHARE = 1 / 4;

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly settings: HttpSettings;
  /** Whether it is reached over TLS. Default: whether PUBLIC_URL begins with https. */
  readonly isSecure?: boolean;
  /** Limits of what is in flight; above them the answer is 503. A single sender may have nine tenths of the requests, and half of the bytes. Default: 1,000 requests and 256 MiB. */
  readonly inFlight?: InFlightLimits;
  /** How JSON bodies are read; `unread`: the routes read bodies themselves. */
  readonly bodies: JsonBodyOptions | 'unread';
  /** How errors are answered. */
  readonly errors?: Pick<ErrorFilterOptions, 'refusalOf' | 'onCause' | 'renderError'>;
  /** Prefixes of paths that are exempt from the limits, because they are answered without waiting. */
  readonly alwaysAdmitted?: readonly string[];
  /** The health checks in addition to those of the process itself. */
  readonly health?: HealthChecks;
  /** Additional headers of every response; handlers may override them. */
  readonly answerHeaders?: AnswerHeaders;
  /** Traces the requests. Default: traces are off. */
  readonly tracer?: Tracer | undefined;
}

/** What every app has in addition to its own module. */
@Module({})
class PlatformModule {}

/**
 * Creates an HTTP app from a module, with limits on what is in flight, request logs, the error body of the API for every error, and the
 * health checks. It does not listen yet.
 */
export async function createHttpApp(
  module: Type | DynamicModule,
  options: HttpAppOptions,
): Promise<INestApplication> {
  const {
    logger,
    settings,
    isSecure = settings.publicUrl.startsWith('https:'),
    inFlight = DEFAULT_LIMITS,
    bodies,
    errors = {},
    alwaysAdmitted = [],
    health: checks,
    answerHeaders = () => [],
    tracer,
  } = options;
  const { renderError } = errors;
  const { publicUrl } = settings;
  const health = new Health(checks);
  const bounds = new InFlight(inFlight, {
    maxRequests: Math.ceil(inFlight.maxRequests * SENDER_SHARE),
    maxBytes: Math.max(inFlight.maxBytes / 2, bodies === 'unread' ? 0 : largestOf(bodies)),
  });
  watchRequests(bounds);
  const adapter = new PlatformAdapter(() => health.isDraining, answerHeaders, renderError);
  const metrics = new MetricsServer(settings.HTTP_HOST, settings.METRICS_PORT, logger);
  const platform: DynamicModule = {
    module: PlatformModule,
    controllers: [HealthController],
    providers: providersOf(health, metrics),
  };
  const app = await NestFactory.create({ imports: [platform, module] }, adapter, {
    bodyParser: false,
    logger: new NestPinoLogger(logger),
    abortOnError: false,
  });
  (adapter.getHttpServer() as Server).keepAliveTimeout = settings.HTTP_KEEP_ALIVE_TIMEOUT_MS;
  const entry = {
    logger,
    publicUrl,
    isSecure,
    inFlight: bounds,
    unread: new UnreadAnswers(inFlight),
    answerHeaders,
    alwaysAdmitted: ['/health/', ...alwaysAdmitted],
    tracer,
    renderError,
  };
  app.use(enterRequest(entry));
  app.use(escapeStrayPercents);
  // An app that reads bodies itself has its own middleware, which must come first.
  if (bodies !== 'unread') {
    const unauthenticated = new UnauthenticatedBodies(inFlight.maxBytes * UNAUTHENTICATED_SHARE);
    app.use(readJsonBody(bodies, unauthenticated)).use(literalPathsFirst(() => adapter.routerLayers()));
  }
  app.useGlobalFilters(new ErrorFilter({ logger, publicUrl, ...errors }));
  return app;
}

@Module({})
class NothingMore {}

/** The same for a worker, whose only HTTP interface is the health checks. */
export function createHealthApp(
  options: Pick<HttpAppOptions, 'logger' | 'settings' | 'health'>,
): Promise<INestApplication> {
  return createHttpApp(NothingMore, { ...options, bodies: { maxBytes: HEALTH_APP_MAX_BYTES } });
}

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
import { type AnswerHeaders, enterRequest } from './enter-request.ts';
import { ErrorFilter, type ErrorFilterOptions } from './error-filter.ts';
import { InFlight, type InFlightLimits } from './in-flight.ts';
import { literalPathsFirst } from './known-methods.ts';
import { PlatformAdapter } from './platform-adapter.ts';
import { type JsonBodyOptions, largestOf, readJsonBody } from './read-json-body.ts';
import { escapeStrayPercents } from './stray-percents.ts';
import { UnreadAnswers } from './unread-answers.ts';

const DEFAULT_LIMITS: InFlightLimits = { maxRequests: 1_000, maxBytes: 256 * 1024 * 1024 };
const HEALTH_APP_MAX_BYTES = 1024;

export interface HttpAppOptions {
  readonly logger: Logger;
  readonly settings: HttpSettings;
  /** What may be in work at once; above it the answer is 503. 1,000 requests and 256 MiB by default. */
  readonly inFlight?: InFlightLimits;
  /** How JSON bodies are read; `unread`: whoever takes a route reads them, of whatever kind they are. */
  readonly bodies: JsonBodyOptions | 'unread';
  /** What is said where no success is answered. */
  readonly errors?: Pick<ErrorFilterOptions, 'refusalOf' | 'onCause' | 'renderError'>;
  /** What paths begin with whose requests are always let in, because they are answered without waiting for anything. */
  readonly alwaysLetIn?: readonly string[];
  /** What `/health/live` and `/health/ready` look at beside the process itself. */
  readonly health?: HealthChecks;
  /** More headers of every answer; whoever handles a request may put others in their place. */
  readonly answerHeaders?: AnswerHeaders;
  /** Traces the requests. Default: traces are off. */
  readonly tracer?: Tracer | undefined;
}

/** What every app has beside its own. */
@Module({})
class PlatformModule {}

/**
 * Makes an HTTP app of a module: bounded, logged, with the error body of the interface on every answer that is not a
 * success, and with `/health/live` and `/health/ready`. It does not listen yet.
 */
export async function createHttpApp(
  module: Type | DynamicModule,
  options: HttpAppOptions,
): Promise<INestApplication> {
  const {
    logger,
    settings,
    inFlight = DEFAULT_LIMITS,
    bodies,
    errors = {},
    alwaysLetIn = [],
    health: checks,
    answerHeaders = () => [],
    tracer,
  } = options;
  const { renderError } = errors;
  const { publicUrl } = settings;
  const health = new Health(checks);
  const maxBytesOfOne = Math.max(inFlight.maxBytes / 2, bodies === 'unread' ? 0 : largestOf(bodies));
  const bounds = new InFlight({ maxBytesOfOne, ...inFlight });
  watchRequests(bounds);
  const adapter = new PlatformAdapter(() => health.isDraining, answerHeaders, renderError);
  const metrics = new MetricsServer(settings.HTTP_HOST, settings.METRICS_PORT, logger);
  const platform: DynamicModule = {
    module: PlatformModule,
    controllers: [HealthController],
    providers: [
      { provide: Health, useValue: health },
      { provide: MetricsServer, useValue: metrics },
    ],
  };
  const app = await NestFactory.create({ imports: [platform, module] }, adapter, {
    bodyParser: false,
    logger: new NestPinoLogger(logger),
    abortOnError: false,
  });
  const entry = {
    logger,
    publicUrl,
    inFlight: bounds,
    unread: new UnreadAnswers({ max: inFlight.maxRequests, maxBytes: inFlight.maxBytes }),
    isDraining: () => health.isDraining,
    answerHeaders,
    alwaysLetIn: ['/health/', ...alwaysLetIn],
    tracer,
    renderError,
  };
  app.use(enterRequest(entry));
  app.use(escapeStrayPercents);
  // Where another reads the bodies, it has an entrance of its own that comes first.
  if (bodies !== 'unread') app.use(readJsonBody(bodies)).use(literalPathsFirst(() => adapter.routerLayers()));
  app.useGlobalFilters(new ErrorFilter({ logger, publicUrl, ...errors }));
  return app;
}

@Module({})
class NothingMore {}

/** The same for a worker, which has nothing to say over HTTP but how it is. */
export function createHealthApp(
  options: Pick<HttpAppOptions, 'logger' | 'settings' | 'health'>,
): Promise<INestApplication> {
  return createHttpApp(NothingMore, { ...options, bodies: { maxBytes: HEALTH_APP_MAX_BYTES } });
}

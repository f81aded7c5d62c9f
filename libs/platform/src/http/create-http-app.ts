import type { INestApplication, Type, DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Refusal } from '@posthorn/kernel';
import type { Logger } from 'pino';
import { HealthModule } from '../health/health.module.ts';
import { Health, type HealthChecks } from '../health/health.ts';
import { MetricsModule } from '../metrics/metrics.module.ts';
import { watchRequests } from '../metrics/metrics.ts';
import { NestPinoLogger } from '../logging/nest-pino-logger.ts';
import type { HttpSettings } from '../settings/connection-settings.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { type AnswerHeaders, enterRequest } from './enter-request.ts';
import { ErrorFilter, type ErrorFilterOptions } from './error-filter.ts';
import { InFlight, type InFlightLimits } from './in-flight.ts';
import { literalPathsFirst } from './known-methods.ts';
import { PlatformAdapter } from './platform-adapter.ts';
import { type JsonBodyOptions, readJsonBody } from './read-json-body.ts';
import { takeStrayPercents } from './stray-percents.ts';
import { UnreadAnswers } from './unread-answers.ts';

const MIB = 1024 * 1024;
const DEFAULT_LIMITS: InFlightLimits = { maxRequests: 1_000, maxBytes: 256 * MIB };
const HEALTH_APP_MAX_BYTES = 1024;

export interface HttpAppOptions extends Pick<ErrorFilterOptions, 'refusalOf' | 'onCause' | 'renderError'> {
  readonly logger: Logger;
  readonly settings: HttpSettings;
  /** What may be in work at once; above it the answer is 503. 1,000 requests and 256 MiB by default. */
  readonly inFlight?: InFlightLimits;
  /** The largest body in bytes; 10 MiB by default. */
  readonly maxBodyBytes?: number;
  /** Other bounds, by path in lower case without a slash at its end. */
  readonly maxBodyBytesByPath?: Readonly<Record<string, number>>;
  /** What is said of a body that is missing or is no object, by path as above; elsewhere a general sentence is. */
  readonly noObjectByPath?: Readonly<Record<string, Refusal>>;
  /**
   * Says who sends a long body, and refuses whoever may not, before more of it is read than its beginning. One sender may hold half of the bytes that
   * may be in work, or the largest body. Default: everybody may, and hold all.
   */
  readonly admitLongBody?: JsonBodyOptions['admitLongBody'];
  /** Whether bodies are JSON, and read here; else whoever takes a route reads them. Default: yes. */
  readonly readsJson?: boolean;
  /** What paths begin with whose requests are always let in, because they are answered without waiting for anything. */
  readonly alwaysLetIn?: readonly string[];
  /** What `/health/live` and `/health/ready` look at beside the process itself. */
  readonly health?: HealthChecks;
  /** More headers of every answer; whoever handles a request may put others in their place. */
  readonly answerHeaders?: AnswerHeaders;
  /** What is told of requests. Default: traces are off. */
  readonly tracer?: Tracer | undefined;
}

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
    maxBodyBytes = 10 * MIB,
    maxBodyBytesByPath = {},
    noObjectByPath = {},
    admitLongBody,
    answerHeaders = () => [],
    readsJson = true,
    alwaysLetIn = [],
    tracer,
    refusalOf,
    onCause,
    renderError,
  } = options;
  const { publicUrl } = settings;
  const health = new Health(options.health);
  const largestBody = Math.max(maxBodyBytes, ...Object.values(maxBodyBytesByPath));
  const maxBytesOfOne = Math.max(inFlight.maxBytes / 2, largestBody);
  const bounds = new InFlight({ maxBytesOfOne, ...inFlight });
  watchRequests(bounds);
  const adapter = new PlatformAdapter(() => health.isDraining, answerHeaders, renderError);
  const app = await NestFactory.create(
    { imports: [HealthModule.register(health), MetricsModule.register(settings, logger), module] },
    adapter,
    { bodyParser: false, logger: new NestPinoLogger(logger), abortOnError: false },
  );
  const entry = {
    logger,
    publicUrl,
    inFlight: bounds,
    unread: new UnreadAnswers({ most: inFlight.maxRequests, mostBytes: inFlight.maxBytes }),
    isDraining: () => health.isDraining,
    answerHeaders,
    alwaysLetIn: ['/health/', ...alwaysLetIn],
    tracer,
    renderError,
  };
  app.use(enterRequest(entry));
  app.use(takeStrayPercents);
  const bodies = {
    maxBytes: maxBodyBytes,
    maxBytesByPath: maxBodyBytesByPath,
    noObjectByPath,
    admitLongBody,
  };
  // Where another reads the bodies, it has an entrance of its own that comes first.
  if (readsJson) app.use(readJsonBody(bodies)).use(literalPathsFirst(() => adapter.routerLayers()));
  app.useGlobalFilters(new ErrorFilter({ logger, publicUrl, refusalOf, onCause, renderError }));
  return app;
}

/** The same for a worker, which has nothing to say over HTTP but how it is. */
export function createHealthApp(
  module: Type | DynamicModule,
  options: Pick<HttpAppOptions, 'logger' | 'settings' | 'health'>,
): Promise<INestApplication> {
  return createHttpApp(module, { ...options, maxBodyBytes: HEALTH_APP_MAX_BYTES });
}

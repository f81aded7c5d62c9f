export * from './settings/index.ts';
export { createLogger, type Logger } from './logging/create-logger.ts';
export { NestPinoLogger } from './logging/nest-pino-logger.ts';
export { reportRepeated } from './logging/report-repeated.ts';
export { redactLine } from './logging/redact-line.ts';
export { requestContext, type RequestContext } from './logging/request-context.ts';
export { createHealthApp, createHttpApp, type HttpAppOptions } from './http/create-http-app.ts';
export type { InFlightLimits } from './http/in-flight.ts';
export { traceparentOf } from './http/enter-request.ts';
export { clientAddress, networkOf, type SentBy } from './http/client-address.ts';
export { JsonText } from './http/json-text.ts';
export {
  answerOf,
  errorBody,
  type ErrorAnswer,
  type ErrorRenderer,
  renderJson,
} from './http/error-answer.ts';
export { bodyIfAny } from './http/read-json-body.ts';
export { parseStrictJson } from './http/strict-json.ts';
export type { DependencyProbe } from './health/dependency-watch.ts';
export { HealthController } from './health/health.controller.ts';
export { Health, type HealthChecks, type LivenessProbe } from './health/health.ts';
export {
  emailOutcomes,
  groupSize,
  inboundRefusals,
  inboundReports,
  trackingHits,
  type QueueBacklog,
  relayUp,
  smtpReplies,
  watchBacklog,
  watchPool,
  webhookAttempts,
  webhookDuration,
  countedSoFar,
  relaysSeen,
} from './metrics/metrics.ts';
export { runUntilSignal, type ProcessLike, type ShutdownOptions } from './shutdown/run-until-signal.ts';
export { startProcess } from './shutdown/start-process.ts';
export { openTracing, type Tracing } from './tracing/open-tracing.ts';
export type { Span, Tracer } from './tracing/tracer.ts';

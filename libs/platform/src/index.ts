export * from './settings/index.ts';
export { createLogger, type Logger } from './logging/create-logger.ts';
export { addToLog } from './logging/request-context.ts';
export { reportRepeated } from './logging/report-repeated.ts';
export { createHealthApp, createHttpApp } from './http/create-http-app.ts';
export { DisconnectSignal } from './http/connections/disconnect-signal.ts';
export { countWhenRead } from './http/body/count-when-read.ts';
export { assignRequest, traceparentOf } from './http/requests/enter-request.ts';
export { clientAddress, networkOf, type SentBy } from './http/requests/client-address.ts';
export { headerValues } from './http/requests/header-values.ts';
export { JsonText } from './http/answers/json-text.ts';
export { providersOf } from './http/providers-of.ts';
export { answerOf, type ErrorRenderer, renderJson } from './http/answers/error-answer.ts';
export { UNKNOWN_FAULT } from './http/answers/error-filter.ts';
export { bodyTooLarge } from './http/body/body-too-large.ts';
export { overload } from './http/requests/in-flight.ts';
export { bodyIfAny, notJson } from './http/body/read-json-body.ts';
export { strictFaultOf } from './http/body/strict-json.ts';
export { HealthController } from './health/health.controller.ts';
export {
  emailOutcomes,
  groupSize,
  inboundMails,
  inboundRefusals,
  inboundReports,
  trackingHits,
  relayUp,
  smtpReplies,
  transmissionDuration,
  watchBacklog,
  watchMonthlyLimits,
  watchPool,
  webhookAttempts,
  webhookDuration,
  counterValues,
} from './metrics/metrics.ts';
export { runUntilSignal } from './shutdown/run-until-signal.ts';
export { deferFullCollections } from './shutdown/defer-full-collections.ts';
export { startProcess } from './shutdown/start-process.ts';
export { openTracing } from './tracing/open-tracing.ts';
export type { Span, Tracer } from './tracing/tracer.ts';

export { Browser, findChromium } from './browser.ts';
export { BrowserPage, type PageSize } from './browser-page.ts';
export { DnsServer, type DnsBehaviour } from './dns-server.ts';
export { TestAuthority, type CertifiedKey } from './certificates.ts';
export { closedSchema } from './closed-schema.ts';
export { COMMIT_SENT, FaultProxy } from './fault-proxy.ts';
export { HostileReceiver } from './hostile-receiver.ts';
export { closeServer, listenOnLoopback, originOf } from './loopback.ts';
export { Postfix, whyNoPostfix } from './postfix.ts';
export {
  copyTestDatabase,
  createTestDatabase,
  PATIENT_LIMITS,
  PrivatePostgres,
  type TestDatabase,
  testPostgresUrl,
} from './postgres.ts';
export { PostgresTools } from './postgres-tools.ts';
export {
  type AppName,
  type AppUnderTest,
  type Exit,
  NODE_ON_SOURCES,
  ProgramUnderTest,
  startApp,
} from './process.ts';
export { type EndedProgram, runOperatorCommand, runToEnd } from './run-to-end.ts';
export { PrivateRedis, testRedisUrl, uniqueQueuePrefix } from './redis.ts';
export { SmtpSink, type SmtpSinkOptions } from './smtp-sink.ts';
export {
  answerAt,
  type SinkAnswer,
  type SinkMessage,
  type SinkScript,
  type SinkStage,
} from './smtp-sink-script.ts';
export { ScriptedSmtpServer } from './smtp-sink-scripted.ts';
export { freePort } from './stack.ts';
export { TokenServer, type TokenAnswer } from './token-server.ts';
export { TraceCollector, type ReceivedSpan } from './trace-collector.ts';
export { type ReceivedPost, WebhookReceiver } from './webhook-receiver.ts';
export { wrongClock } from './wrong-clock.ts';

export { Browser, findChromium } from './browser.ts';
export { BrowserPage, type PageSize } from './browser-page.ts';
export { DnsServer, type DnsBehaviour, type DnsQuery } from './dns-server.ts';
export { TestAuthority, type CertifiedKey, type CertificateFacts } from './certificates.ts';
export { FaultProxy } from './fault-proxy.ts';
export { HOSTILE_ANSWERS, type HostileAnswer, type ReceivedRequest } from './hostile-answers.ts';
export { HostileReceiver, type HostileReceiverOptions } from './hostile-receiver.ts';
export { Postfix, type PostfixOptions, whyNoPostfix } from './postfix.ts';
export {
  copyTestDatabase,
  createTestDatabase,
  PrivatePostgres,
  type TestDatabase,
  testPostgresUrl,
} from './postgres.ts';
export { PostgresTools } from './postgres-tools.ts';
export { type AppName, type AppUnderTest, type Exit, ProgramUnderTest, startApp } from './process.ts';
export { PrivateRedis, testRedisUrl, uniqueQueuePrefix } from './redis.ts';
export { SmtpSink, type SmtpSinkOptions } from './smtp-sink.ts';
export type { SinkAnswer, SinkMessage, SinkScript, SinkSituation, SinkStage } from './smtp-sink-script.ts';
export { ScriptedSmtpServer, type ScriptedSmtpServerOptions } from './smtp-sink-scripted.ts';
export { freePort } from './stack.ts';
export { TraceCollector, type ToldSpan } from './trace-collector.ts';
export * from './webhook-receiver.ts';

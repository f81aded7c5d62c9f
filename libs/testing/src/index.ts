export { DnsServer, type DnsBehaviour, type DnsQuery } from './dns-server.ts';
export { FaultProxy } from './fault-proxy.ts';
export { createTestDatabase, PrivatePostgres, type TestDatabase, testPostgresUrl } from './postgres.ts';
export { type AppName, type AppUnderTest, type Exit, ProgramUnderTest, startApp } from './process.ts';
export { PrivateRedis, testRedisUrl, uniqueQueuePrefix } from './redis.ts';
export { SmtpSink, type SmtpSinkOptions } from './smtp-sink.ts';
export type { SinkAnswer, SinkMessage, SinkScript, SinkSituation, SinkStage } from './smtp-sink-script.ts';
export { ScriptedSmtpServer, type ScriptedSmtpServerOptions } from './smtp-sink-scripted.ts';

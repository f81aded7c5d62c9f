export { FaultProxy } from './fault-proxy.ts';
export { createTestDatabase, PrivatePostgres, type TestDatabase, testPostgresUrl } from './postgres.ts';
export { type AppName, type AppUnderTest, type Exit, ProgramUnderTest, startApp } from './process.ts';
export { PrivateRedis, testRedisUrl, uniqueQueuePrefix } from './redis.ts';

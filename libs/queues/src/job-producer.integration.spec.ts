import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { QUEUES } from './index.ts';
import { JobProducer, type NewJob } from './job-producer.ts';

const JOB: NewJob = { name: 'recoveries.forget', data: { v: 1 }, opts: {} };

let redis: PrivateRedis;
let prefix: string;
let producer: JobProducer;

beforeEach(async () => {
  redis = await PrivateRedis.start();
  prefix = uniqueQueuePrefix();
});
afterEach(async () => {
  await producer.close();
  await redis.close();
});

async function connect(): Promise<void> {
  producer = new JobProducer(QUEUES.maintenance, { url: redis.url, prefix }, () => undefined);
  while (!producer.isConnected) await sleep(5);
}

it('A producer that began without the rights that it needs in Redis adds jobs as soon as it has them', async () => {
  await redis.ask('ACL SETUSER default -info');
  await connect();
  await expect(producer.add([JOB])).rejects.toThrow('NOPERM');
  await redis.ask('ACL SETUSER default +info');
  await producer.add([JOB]);
  expect(await redis.ask(`LLEN ${prefix}:${QUEUES.maintenance}:wait`)).toBe(':1\r\n');
});

it('Of the events that BullMQ writes for each job, hundreds are kept at most', async () => {
  await connect();
  await producer.add(Array.from({ length: 1_000 }, () => JOB));
  const events = await redis.ask(`XLEN ${prefix}:${QUEUES.maintenance}:events`);
  // Redis removes them in blocks of a hundred.
  expect(Number(events.slice(1))).toBeLessThanOrEqual(200);
});

it('The error of a login that Redis refuses names the setting', async () => {
  const url = redis.url.replace('://', '://nobody:wrong@');
  const { promise, resolve } = Promise.withResolvers<Error>();
  producer = new JobProducer(QUEUES.maintenance, { url, prefix }, resolve);
  const error = await promise;
  expect(error.message).toBe('Redis refuses the login: correct the name and password in REDIS_URL');
  expect((error.cause as Error).message).toMatch(/^WRONGPASS/);
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { Queue } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobWorker, PausedQueues, QUEUES } from './index.ts';

let redis: PrivateRedis;
let prefix: string;
let paused: PausedQueues;
const resumed: string[] = [];
const errors: Error[] = [];
const onError = (error: Error): void => void errors.push(error);

beforeAll(async () => {
  redis = await PrivateRedis.start();
  prefix = uniqueQueuePrefix();
  paused = new PausedQueues({
    url: redis.url,
    prefix,
    onResumed: (name) => void resumed.push(name),
    onError,
  });
});
afterAll(async () => {
  await paused.close();
  await redis.close();
});

const queueNamed = (name: string): Queue => new Queue(name, { connection: { url: redis.url }, prefix });

it.each(Object.values(QUEUES))('%s goes on when somebody has paused it, and it is told', async (name) => {
  const queue = queueNamed(name);
  await queue.pause();
  while (await queue.isPaused()) {
    await paused.resume();
    await sleep(10);
  }
  await queue.close();
  expect(resumed.splice(0)).toEqual([name]);
  expect(errors).toEqual([]);
});

it('jobs that came while a queue was paused are done', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  await queue.pause();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const worker = new JobWorker<'recoveries.forget'>({
    ...{ url: redis.url, prefix, queue: QUEUES.maintenance, concurrency: 1, onError },
    handlers: { 'recoveries.forget': () => Promise.resolve(resolve()) },
  });
  worker.start();
  await queue.add('recoveries.forget', { v: 1 });
  await paused.resume();
  await done;
  await worker.close();
  await queue.close();
});

it('nothing is told while nothing is paused, and nothing goes wrong while Redis is away', async () => {
  resumed.length = 0;
  await paused.resume();
  const away = new PausedQueues({ url: 'redis://127.0.0.1:1', prefix, onResumed: onError as never, onError });
  const before = errors.filter(({ message }) => !message.includes('ECONNREFUSED')).length;
  await away.resume();
  await away.close();
  expect(errors.filter(({ message }) => !message.includes('ECONNREFUSED'))).toHaveLength(before);
  expect(resumed).toEqual([]);
});

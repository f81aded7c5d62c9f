import { expect, it } from '@jest/globals';
import { testRedisUrl, uniqueQueuePrefix } from '@posthorn/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobProducer } from './job-producer.ts';
import { QUEUES, WatchedQueues } from './index.ts';

const onError = (error: Error): never => {
  throw error;
};

it('who looks at a queue leaves it as those set it up who work with it', async () => {
  const redis = { url: testRedisUrl(), prefix: uniqueQueuePrefix() };
  const producer = new JobProducer(QUEUES.maintenance, redis, onError);
  await producer.ping();
  const worked = await producer.queue();
  const meta = () => worked.getMeta();
  while ((await meta()).version === undefined) await sleep(5);
  const before = await meta();

  const watched = new WatchedQueues(redis, onError);
  while (watched.queues === undefined) await sleep(5);
  // Each queue writes what it has to say of itself before it answers with its version.
  await Promise.all(watched.queues.map((queue) => queue.getVersion()));
  expect(await meta()).toEqual(before);

  await watched.close();
  await producer.close();
});

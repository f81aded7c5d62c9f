import { expect, it } from '@jest/globals';
import { PrivateRedis, testRedisUrl, uniqueQueuePrefix } from '@posthorn/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { connected } from './connected.fixture.ts';
import { JobProducer } from './job-producer.ts';
import { QUEUES, ReadOnlyQueues } from './index.ts';

const onError = (error: Error): never => {
  throw error;
};

it('reading a queue does not change the settings that its workers have written', async () => {
  const redis = { url: testRedisUrl(), prefix: uniqueQueuePrefix() };
  const producer = new JobProducer(QUEUES.maintenance, redis, onError);
  await connected(producer);
  const worked = await producer.queue();
  const meta = () => worked.getMeta();
  while ((await meta()).version === undefined) await sleep(5);
  const before = await meta();

  const watched = new ReadOnlyQueues(redis, onError);
  await connected(watched);
  // Each queue writes its metadata before it answers with its version.
  await Promise.all((await watched.queues()).map((queue) => queue.getVersion()));
  expect(await meta()).toEqual(before);

  await watched.close();
  await producer.close();
});

it('queues that were requested while Redis did not answer are available once it does', async () => {
  const redis = await PrivateRedis.start();
  const watched = new ReadOnlyQueues({ url: redis.url, prefix: uniqueQueuePrefix() }, () => undefined);
  await connected(watched);
  redis.freeze();
  await expect(watched.queues()).rejects.toThrow('Reached the max retries');
  redis.thaw();
  const counted = async (): Promise<unknown> =>
    Promise.all((await watched.queues()).map((queue) => queue.getJobCounts()));
  while ((await counted().catch(() => undefined)) === undefined) await sleep(5);
  await watched.close();
  await redis.close();
});

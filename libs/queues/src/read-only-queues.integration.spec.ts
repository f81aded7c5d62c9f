import { expect, it } from '@jest/globals';
import { PrivateRedis, testRedisUrl, uniqueQueuePrefix } from '@posthorn/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobProducer } from './job-producer.ts';
import { QUEUES, ReadOnlyQueues } from './index.ts';

const onError = (error: Error): never => {
  throw error;
};

/** A connection that is just being made is given less time than it may take on a busy machine. */
async function connected(one: { ping(): Promise<void> }): Promise<void> {
  const answers = (): Promise<boolean> =>
    one.ping().then(
      () => true,
      () => false,
    );
  while (!(await answers())) await sleep(5);
}

it('who looks at a queue leaves it as those set it up who work with it', async () => {
  const redis = { url: testRedisUrl(), prefix: uniqueQueuePrefix() };
  const producer = new JobProducer(QUEUES.maintenance, redis, onError);
  await connected(producer);
  const worked = await producer.queue();
  const meta = () => worked.getMeta();
  while ((await meta()).version === undefined) await sleep(5);
  const before = await meta();

  const watched = new ReadOnlyQueues(redis, onError);
  await connected(watched);
  // Each queue writes what it has to say of itself before it answers with its version.
  await Promise.all((await watched.queues()).map((queue) => queue.getVersion()));
  expect(await meta()).toEqual(before);

  await watched.close();
  await producer.close();
});

it('queues that somebody asked for while Redis did not answer are there once it does', async () => {
  const redis = await PrivateRedis.start();
  const watched = new ReadOnlyQueues({ url: redis.url, prefix: uniqueQueuePrefix() }, () => undefined);
  await connected(watched);
  redis.freeze();
  await expect(watched.queues()).rejects.toThrow('timed out');
  redis.thaw();
  const counted = async (): Promise<unknown> =>
    Promise.all((await watched.queues()).map((queue) => queue.getJobCounts()));
  while ((await counted().catch(() => undefined)) === undefined) await sleep(5);
  await watched.close();
  await redis.close();
});

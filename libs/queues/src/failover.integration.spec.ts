import { once } from 'node:events';
import { expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultProxy, PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { connectProducer } from './connections.ts';
import { JobProducer } from './job-producer.ts';
import { JobWorker, QUEUES } from './index.ts';

const STUCK_AFTER_MS = 60_000;
const LIVENESS = { canaryEveryMs: 50, stuckAfterMs: 2_000 };

it.each([
  [
    'keeps its connections, as a replica',
    (old: PrivateRedis, young: PrivateRedis) => old.ask(`REPLICAOF 127.0.0.1 ${young.port}`),
  ],
  ['keeps its connections and does not answer', (old: PrivateRedis) => Promise.resolve(old.freeze())],
])('jobs are added and processed again after a failover whose old server %s', async (_what, fail) => {
  const [old, young] = await Promise.all([PrivateRedis.start(), PrivateRedis.start()]);
  const proxy = await FaultProxy.before(old.url);
  const options = { url: proxy.urlFor(old.url), prefix: uniqueQueuePrefix() };
  let served = 0;
  const producer = new JobProducer(QUEUES.maintenance, options, () => undefined);
  const worker = new JobWorker<'recoveries.forget'>({
    ...options,
    queue: QUEUES.maintenance,
    concurrency: 1,
    liveness: LIVENESS,
    handlers: { 'recoveries.forget': () => Promise.resolve(void (served += 1)) },
    onError: () => undefined,
  });
  worker.start();
  const serveMore = async (): Promise<void> => {
    // One may have been fetched before.
    const goal = served + 2;
    while (served < goal) {
      await producer.add([{ name: 'recoveries.forget', data: { v: 1 }, opts: {} }]).catch(() => undefined);
      await sleep(10);
    }
  };
  await serveMore();

  proxy.redirectTo(young.url);
  await fail(old, young);
  await serveMore();

  await worker.close();
  await producer.close();
  await proxy.close();
  await Promise.all([old.close(), young.close()]);
});

it('a worker follows when only its own connection still leads to the old server, which answers', async () => {
  const [old, young] = await Promise.all([PrivateRedis.start(), PrivateRedis.start()]);
  const proxy = await FaultProxy.before(old.url);
  const options = { url: proxy.urlFor(old.url), prefix: uniqueQueuePrefix() };
  const served = new Set<string>();
  const producer = new JobProducer(QUEUES.maintenance, options, () => undefined);
  const worker = new JobWorker<'recoveries.forget' | 'events.expire'>({
    ...options,
    queue: QUEUES.maintenance,
    concurrency: 1,
    liveness: LIVENESS,
    handlers: {
      'recoveries.forget': () => Promise.resolve(void served.add('before')),
      'events.expire': () => Promise.resolve(void served.add('after')),
    },
    onError: () => undefined,
  });
  worker.start();
  const add = async (name: 'recoveries.forget' | 'events.expire'): Promise<void> => {
    await producer.add([{ name, data: { v: 1 }, opts: {} }]).catch(() => undefined);
    await sleep(10);
  };
  while (!served.has('before')) await add('recoveries.forget');

  proxy.redirectTo(young.url);
  // A connection on which an answer took too long is replaced; a worker has more patience.
  for (const { connection } of [producer, worker['producer']]) connection.disconnect(true);
  while ((await young.ask('DBSIZE')) === ':0\r\n') await add('recoveries.forget');
  while (!served.has('after')) await add('events.expire');

  await worker.close();
  await producer.close();
  await proxy.close();
  await Promise.all([old.close(), young.close()]);
});

it('a worker whose open connections no longer transmit anything processes jobs again long before it counts as stuck', async () => {
  const redis = await PrivateRedis.start();
  const [proxy, beside] = await Promise.all([FaultProxy.before(redis.url), FaultProxy.before(redis.url)]);
  const prefix = uniqueQueuePrefix();
  let served = 0;
  const producer = new JobProducer(
    QUEUES.maintenance,
    { url: beside.urlFor(redis.url), prefix },
    () => undefined,
  );
  const worker = new JobWorker<'recoveries.forget'>({
    url: proxy.urlFor(redis.url),
    prefix,
    queue: QUEUES.maintenance,
    concurrency: 1,
    // No canary is sent: only the silence tells that the connection is dead.
    liveness: { canaryEveryMs: 3_600_000, stuckAfterMs: STUCK_AFTER_MS },
    handlers: { 'recoveries.forget': () => Promise.resolve(void (served += 1)) },
    onError: () => undefined,
  });
  worker.start();
  const add = (): Promise<boolean> =>
    producer.add([{ name: 'recoveries.forget', data: { v: 1 }, opts: {} }]).then(
      () => true,
      () => false,
    );
  const serveMore = async (): Promise<void> => {
    const goal = served + 1;
    while (!(await add())) await sleep(10);
    while (served < goal) await sleep(10);
  };
  await serveMore();

  proxy.freezeOpenConnections();
  const strandedAt = performance.now();
  await serveMore();
  expect(performance.now() - strandedAt).toBeLessThan(STUCK_AFTER_MS);

  await worker.close();
  await producer.close();
  await Promise.all([proxy.close(), beside.close()]);
  await redis.close();
});

it('a connection whose server became a replica is closed and replaced once, however many commands were refused', async () => {
  const redis = await PrivateRedis.start();
  const connection = connectProducer(redis.url, () => undefined);
  await once(connection, 'ready');
  await redis.ask('REPLICAOF 127.0.0.1 1');
  const { stream } = connection;
  const listeners = stream.listenerCount('close');
  const answers = await Promise.allSettled(Array.from({ length: 30 }, () => connection.set('key', 'value')));
  expect(answers.every(({ status }) => status === 'rejected')).toBe(true);
  expect(stream.listenerCount('close')).toBe(listeners + 1);
  await once(connection, 'ready');
  expect(connection.stream).not.toBe(stream);
  connection.disconnect();
  await redis.close();
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { nowLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { PrivateRedis } from '@posthorn/testing';
import { connected } from './connected.fixture.ts';
import {
  examineRedis,
  JobWorker,
  LaneRings,
  MaintenanceSchedule,
  QueueRepair,
  QUEUES,
  RateLimiter,
  ReadOnlyQueues,
} from './index.ts';

it('a user of Redis with the rights that are documented may do all that Posthorn does', async () => {
  const redis = await PrivateRedis.start();
  await redis.ask('ACL SETUSER posthorn on >pw ~posthorn:* +@all -@admin -@dangerous +info');
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const options = {
    url: redis.url.replace('://', '://posthorn:pw@'),
    prefix: 'posthorn',
    silenceMs: 8_000,
    onError,
  };
  const served = { turns: 0, regular: 0 };
  const turns = new JobWorker<'email.turn'>({
    ...options,
    queue: QUEUES.emailTurns,
    concurrency: 1,
    liveness: { canaryEveryMs: 50, stuckAfterMs: 60_000 },
    handlers: { 'email.turn': () => Promise.resolve(void (served.turns += 1)) },
  });
  const regular = new JobWorker<'recoveries.forget'>({
    ...options,
    queue: QUEUES.maintenance,
    concurrency: 1,
    handlers: { 'recoveries.forget': () => Promise.resolve(void (served.regular += 1)) },
  });
  const rings = new LaneRings({ ...options, turnQueue: 'email', rowsPerTurn: 50 });
  const schedule = new MaintenanceSchedule(options, { 'recoveries.forget': 50 }, onError);
  const repair = new QueueRepair({
    ...options,
    searchEveryMs: 0,
    onResumed: () => undefined,
    onReset: () => undefined,
    onLost: () => undefined,
  });
  const limiter = new RateLimiter({
    ...options,
    // It has more patience with nobody than 50 ms, and limits by itself then.
    onError: (error) => void (/in time$|was lost/.test(error.message) || onError(error)),
  });
  const hasLimited = async (): Promise<boolean> =>
    (await redis.ask('EXISTS posthorn:{rates}:key:a')) === ':1\r\n';
  const boards = new ReadOnlyQueues(options, onError);
  turns.start();
  regular.start();
  // Before the first connections are made, commands fail.
  await Promise.all([rings, boards].map(connected));
  while (served.turns < 3 || served.regular < 3 || !(await hasLimited())) {
    rings.ring(nowLane(newId('wrk', Date.now())));
    await schedule.restore();
    await repair.repair(1);
    await limiter.takeToken('key', 'a', { amount: 1, periodSeconds: 1, burst: 5 });
    await sleep(10);
  }
  const queues = await boards.queues();
  await Promise.all(queues.map((queue) => queue.getJobCounts()));
  await examineRedis(options);
  const refused = await redis.ask('ACL LOG');

  await Promise.all([
    turns.close(),
    regular.close(),
    rings.close(),
    schedule.close(),
    repair.close(),
    boards.close(),
  ]);
  limiter.close();
  await redis.close();
  expect(errors.map(({ message }) => message)).toEqual([]);
  expect(refused).toBe('*0\r\n');
});

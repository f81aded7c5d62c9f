import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { Queue } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobWorker, MaintenanceSchedule, QUEUES } from './index.ts';

const EVERY_MS = 500;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NAME = 'recoveries.forget';
/** More patience than usual, but less than what is left open may last: ioredis forgets its timer when a connection is closed. */
const silenceMs = 8_000;

let redis: PrivateRedis;
let prefix: string;
let queue: Queue;
let schedule: MaintenanceSchedule;
let passedMs = 0;
const errors: Error[] = [];
const onError = (error: Error): void => void errors.push(error);

beforeAll(async () => {
  redis = await PrivateRedis.start();
  prefix = uniqueQueuePrefix();
  queue = new Queue(QUEUES.maintenance, { connection: { url: redis.url }, prefix });
  schedule = new MaintenanceSchedule(
    { url: redis.url, prefix, silenceMs },
    { [NAME]: EVERY_MS },
    onError,
    () => passedMs,
  );
});
afterAll(async () => {
  await schedule.close();
  await queue.close();
  await redis.close();
});

async function putBackUntilThere(): Promise<number> {
  for (;;) {
    await schedule.restore();
    const scheduler = await queue.getJobScheduler(NAME);
    if (scheduler?.next !== undefined) return scheduler.next;
    await sleep(10);
  }
}

/** Starts a worker for the regular job. */
function startWorker(onDone: () => void, onFault: (error: Error) => void): JobWorker<typeof NAME> {
  const worker = new JobWorker<typeof NAME>({
    url: redis.url,
    prefix,
    silenceMs,
    queue: QUEUES.maintenance,
    concurrency: 1,
    handlers: { [NAME]: () => Promise.resolve(onDone()) },
    onError: onFault,
  });
  worker.start();
  return worker;
}

/** Leaves the schedule as a worker does whose clock is ahead. */
async function leaveAhead(ms: number): Promise<number> {
  await queue.removeJobScheduler(NAME);
  const repeat = { every: EVERY_MS, startDate: Date.now() + ms };
  await queue.upsertJobScheduler(NAME, repeat, { name: NAME, data: { v: 1 } });
  return (await queue.getJobScheduler(NAME))!.next!;
}

it('a regular job that a wrong clock has scheduled a day too late is rescheduled', async () => {
  await putBackUntilThere();
  const next = await leaveAhead(DAY_MS);
  expect(await putBackUntilThere()).toBe(next);
  passedMs += HOUR_MS;
  expect(await putBackUntilThere()).toBeLessThanOrEqual(Date.now() + 2 * EVERY_MS);
  let done = 0;
  const worker = startWorker(() => void (done += 1), onError);
  while (done < 3) await sleep(10);
  await worker.close();
  expect(errors).toEqual([]);
});

it('a regular job that Redis has lost is restored, although its schedule still exists', async () => {
  await leaveAhead(30_000);
  const [lost] = await queue.getDelayed();
  await redis.ask(`ZREM ${queue.toKey('delayed')} ${lost!.id!}`);
  await redis.ask(`DEL ${queue.toKey(lost!.id!)}`);
  // The state a day later.
  await redis.ask(`ZADD ${queue.toKey('repeat')} ${Date.now() - DAY_MS} ${NAME}`);
  expect(await putBackUntilThere()).toBeGreaterThan(Date.now() - DAY_MS / 2);
  expect(await queue.getJobCountByTypes('delayed', 'wait')).toBe(1);
});

it('a regular job is left to a worker whose clock is hours ahead but which still runs it', async () => {
  for (let n = 0; n < 3; n += 1) {
    const next = await leaveAhead(6 * HOUR_MS + n * EVERY_MS);
    expect(await putBackUntilThere()).toBe(next);
    passedMs += HOUR_MS;
  }
});

it.each([
  ['when the clocks of two machines differ slightly', 30_000],
  ['while it waits for a worker', -30_000],
])('a regular job is not rescheduled %s', async (_when, aheadMs) => {
  await leaveAhead(DAY_MS);
  const next = Date.now() + aheadMs;
  await redis.ask(`ZADD ${queue.toKey('repeat')} ${next} ${NAME}`);
  for (let n = 0; n < 2; n += 1) {
    expect(await putBackUntilThere()).toBe(next);
    passedMs += HOUR_MS;
  }
});

it('a regular job is not begun again and again while schedulers of two releases give it different intervals', async () => {
  await queue.obliterate({ force: true });
  const [one, other] = [DAY_MS, HOUR_MS].map(
    (everyMs) =>
      new MaintenanceSchedule(
        { url: redis.url, prefix, silenceMs },
        { [NAME]: everyMs },
        onError,
        () => passedMs,
      ),
  ) as [MaintenanceSchedule, MaintenanceSchedule];
  const intervalAfter = async (restored: MaintenanceSchedule): Promise<number | undefined> => {
    await restored.restore();
    return (await queue.getJobScheduler(NAME))?.every;
  };
  while ((await intervalAfter(one)) !== DAY_MS) await sleep(10);
  while ((await intervalAfter(other)) !== HOUR_MS) await sleep(10);
  const intervals: unknown[] = [];
  for (let n = 0; n < 3; n += 1) intervals.push(await intervalAfter(one), await intervalAfter(other));
  expect(intervals).toEqual(Array(6).fill(DAY_MS));
  passedMs += HOUR_MS;
  expect(await intervalAfter(other)).toBe(HOUR_MS);
  await Promise.all([one.close(), other.close()]);
});

it('a regular job that only another release has is removed ten minutes after it was found, not sooner', async () => {
  await queue.obliterate({ force: true });
  const former = 'notices.forget';
  const addFormer = (): Promise<unknown> =>
    queue.upsertJobScheduler(former, { every: EVERY_MS }, { name: former, data: { v: 1 } });
  const left = async (): Promise<string[]> => (await queue.getJobSchedulers()).map(({ key }) => key).sort();
  await addFormer();
  await putBackUntilThere();
  passedMs += 9 * MINUTE_MS;
  await schedule.restore();
  expect(await left()).toEqual([former, NAME]);
  passedMs += 2 * MINUTE_MS;
  await schedule.restore();
  expect(await left()).toEqual([NAME]);
  // A scheduler of the other release still runs, and adds it again.
  await addFormer();
  await schedule.restore();
  expect(await left()).toEqual([former, NAME]);
});

it('regular jobs are restored in one round at a time, which ends before the connection is closed', async () => {
  await queue.obliterate({ force: true });
  const told: Error[] = [];
  const closed = new MaintenanceSchedule(
    { url: redis.url, prefix, silenceMs },
    { [NAME]: EVERY_MS },
    (error) => void told.push(error),
  );
  while ((await queue.getJobScheduler(NAME)) === undefined) await closed.restore();
  const commandsOf = async (rounds: number): Promise<string | undefined> => {
    await redis.ask('CONFIG RESETSTAT');
    await Promise.all(Array.from({ length: rounds }, () => closed.restore()));
    return /cmdstat_zrange:calls=(\d+)/.exec(await redis.ask('INFO commandstats'))?.[1];
  };
  expect(await commandsOf(2)).toBe(await commandsOf(1));
  await queue.removeJobScheduler(NAME);
  const round = closed.restore();
  await closed.close();
  await round;
  expect((await queue.getJobScheduler(NAME))?.every).toBe(EVERY_MS);
  expect(told).toEqual([]);
});

it('all regular jobs are restored, although the schedule of one was overwritten', async () => {
  const others = ['events.expire', 'domains.check'] as const;
  for (const isKept of [true, false]) {
    await queue.obliterate({ force: true });
    const told: Error[] = [];
    const all = new MaintenanceSchedule(
      { url: redis.url, prefix, silenceMs },
      Object.fromEntries([others[0], NAME, others[1]].map((name) => [name, EVERY_MS])),
      (error) => void told.push(error),
    );
    if (isKept) await putBackUntilThere();
    await redis.ask(`DEL ${queue.toKey(`repeat:${NAME}`)}`);
    await redis.ask(`SET ${queue.toKey(`repeat:${NAME}`)} nonsense`);
    const found = async (): Promise<string[]> =>
      (await Promise.all([NAME, ...others].map((name) => queue.getJobScheduler(name)))).flatMap(
        (scheduler) => (scheduler?.next === undefined ? [] : [scheduler.key]),
      );
    const isWhole = (): Promise<boolean> =>
      found().then(
        ({ length }) => length === 3,
        () => false,
      );
    for (const until = performance.now() + 60_000; performance.now() < until && !(await isWhole());) {
      await all.restore();
      await sleep(10);
    }
    expect(await found()).toEqual([NAME, ...others]);
    expect(told.map(({ message }) => message).join()).toContain('WRONGTYPE');
    await all.close();
  }
});

it.each([
  ['its name', 'name nonsense'],
  ['its data, which is no JSON then', 'data {x'],
  ['its data', 'data []'],
  ['its options, which are no JSON then', 'opts {x'],
  ['its options', 'opts null'],
])('a regular job is done again when something else was written over %s', async (_what, written) => {
  await queue.obliterate({ force: true });
  const told: Error[] = [];
  const regular = new MaintenanceSchedule(
    { url: redis.url, prefix, silenceMs },
    { [NAME]: EVERY_MS },
    (error) => void told.push(error),
  );
  await putBackUntilThere();
  await redis.ask(`HSET ${queue.toKey(`repeat:${NAME}`)} ${written}`);
  let done = 0;
  const worker = startWorker(
    () => void (done += 1),
    () => undefined,
  );
  for (const until = performance.now() + 60_000; done < 4 && performance.now() < until;) {
    await regular.restore();
    await sleep(20);
  }
  await Promise.all([worker.close(), regular.close()]);
  expect(done).toBeGreaterThanOrEqual(4);
  // It is logged once, not at each check.
  expect(told.length).toBeLessThan(5);
});

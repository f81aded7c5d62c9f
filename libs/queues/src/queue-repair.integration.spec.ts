import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LaneId, nowLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { Queue, Worker } from 'bullmq';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type JobHandlers, JobWorker, LaneRings, QueueRepair, QUEUES } from './index.ts';
import type { JobWorkerOptions } from './job-worker.ts';
import type { JobName, QueueName } from './jobs.ts';
import type { TurnQueueName } from './turn-queues.ts';

/** More patience than usual, but less than what is left open may last: ioredis forgets its timer when a connection is closed. */
const silenceMs = 8_000;
/** Far longer than it takes anywhere. */
const GIVEN_UP_AFTER_MS = 120_000;

let redis: PrivateRedis;
let prefix: string;
let queueRepair: QueueRepair;
const resumed: string[] = [];
const resets: string[] = [];
const lost: [string, number][] = [];
const errors: Error[] = [];
const onError = (error: Error): void => void errors.push(error);

beforeAll(async () => {
  redis = await PrivateRedis.start();
  prefix = uniqueQueuePrefix();
  queueRepair = new QueueRepair({
    url: redis.url,
    prefix,
    silenceMs,
    searchEveryMs: 0,
    onResumed: (name) => void resumed.push(name),
    onReset: (name) => void resets.push(name),
    onLost: (name, jobs) => void lost.push([name, jobs]),
    onError,
  });
});
afterAll(async () => {
  await queueRepair.close();
  await redis.close();
});

const ignored = (): void => undefined;

function workerOf<Name extends JobName>(
  queue: QueueName,
  handlers: JobHandlers<Name>,
  more: Partial<JobWorkerOptions<Name>> = {},
): JobWorker<Name> {
  const options = { url: redis.url, prefix, silenceMs, queue, concurrency: 1, handlers, onError };
  return new JobWorker({ ...options, ...more });
}

const ringsOf = (turnQueue: TurnQueueName, rowsPerTurn: number, onErrorOfRings = onError): LaneRings =>
  new LaneRings({ url: redis.url, prefix, silenceMs, turnQueue, rowsPerTurn, onError: onErrorOfRings });

const queueNamed = (name: string): Queue => new Queue(name, { connection: { url: redis.url }, prefix });

it.each(Object.values(QUEUES))(
  '%s is resumed when somebody has paused it in Redis, and that is logged',
  async (name) => {
    const queue = queueNamed(name);
    await queue.pause();
    while (await queue.isPaused()) {
      await queueRepair.repair(0);
      await sleep(10);
    }
    await queue.close();
    expect(resumed.splice(0)).toEqual([name]);
    expect(errors).toEqual([]);
  },
);

it.each<[string, (queue: Queue) => Promise<unknown>]>([
  ['one job in eleven days', (queue) => queue.setGlobalRateLimit(1, 999_999_999)],
  ['no job at once', (queue) => queue.setGlobalConcurrency(0)],
])('a queue that somebody has limited to %s is reset, and that is logged', async (_limit, slowDown) => {
  const queue = queueNamed(QUEUES.emailTurns);
  await slowDown(queue);
  while (resumed.length === 0) await queueRepair.repair(0);
  expect(resumed.splice(0)).toEqual([QUEUES.emailTurns]);
  expect(await queue.getGlobalConcurrency()).toBeNull();
  expect(await queue.getGlobalRateLimit()).toBeNull();
  await queue.close();
  expect(errors).toEqual([]);
});

it('jobs that were added while a queue was paused are done', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  await queue.pause();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const worker = workerOf(QUEUES.maintenance, { 'recoveries.forget': () => Promise.resolve(resolve()) });
  worker.start();
  await queue.add('recoveries.forget', { v: 1 });
  await queueRepair.repair(0);
  await done;
  await worker.close();
  await queue.close();
});

it('jobs that cannot be parsed are removed, and delay no others', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  const broken = Array.from({ length: 30 }, (_, index) => `broken-${index}`);
  for (const [index, id] of broken.entries()) {
    const text = index % 2 === 0 ? 'data {x opts {}' : 'data {} opts {x';
    if (index === 7) await redis.ask(`SET ${queue.toKey(id)} nonsense`);
    else await redis.ask(`HSET ${queue.toKey(id)} name recoveries.forget ${text}`);
    await redis.ask(`RPUSH ${queue.toKey(index % 3 === 0 ? 'active' : 'wait')} ${id}`);
  }
  await queue.add('recoveries.forget', { v: 1 });
  while (errors.length === 0) await queueRepair.repair(0);
  expect(errors.splice(0).map(({ message }) => message)).toEqual([
    'stuck jobs of maintenance were deleted: 30',
  ]);
  expect(await redis.ask(`EXISTS ${broken.map((id) => queue.toKey(id)).join(' ')}`)).toBe(':0\r\n');
  expect((await queue.getWaiting()).map(({ name }) => name)).toEqual(['recoveries.forget']);
  await queue.drain();
  await queue.close();
});

/** By what is wrong with a job: the fields that no worker can begin it with. */
const UNUSABLE_FIELDS = {
  'options are a number that only Lua can read': 'opts inf',
  'options are null': 'opts null',
  'parent cannot be parsed': 'parent {x',
  'number of starts is a word': 'ats x',
  'number of stalls is a word': 'stc x',
};

it('jobs are removed that no worker can begin, whatever is wrong with them', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  const ids = Object.keys(UNUSABLE_FIELDS).map((what) => what.replaceAll(' ', '-'));
  for (const [index, fields] of Object.values(UNUSABLE_FIELDS).entries()) {
    // It has stalled twice before.
    await redis.ask(`HSET ${queue.toKey(ids[index]!)} name recoveries.forget data {} stc 2 ${fields}`);
    await redis.ask(`RPUSH ${queue.toKey('active')} ${ids[index]}`);
  }
  let served = 0;
  const worker = workerOf(
    QUEUES.maintenance,
    { 'recoveries.forget': () => Promise.resolve(void (served += 1)) },
    { onError: ignored },
  );
  worker.start();
  const areThere = (): Promise<string[]> =>
    Promise.all(ids.map(async (id) => `${id} ${await redis.ask(`EXISTS ${queue.toKey(id)}`)}`));
  const areGone = ids.map((id) => `${id} :0\r\n`);
  for (const until = performance.now() + GIVEN_UP_AFTER_MS; performance.now() < until; await sleep(100)) {
    await queueRepair.repair(0);
    if (isDeepStrictEqual(await areThere(), areGone)) break;
  }
  expect(await areThere()).toEqual(areGone);
  const left = await queue.getJobCounts('active', 'wait');
  await queue.add('recoveries.forget', { v: 1 });
  while (served === 0) await sleep(20);
  await worker.close();
  await queue.close();
  expect(left).toEqual({ active: 0, wait: 0 });
  const deleted = errors
    .splice(0)
    .map(({ message }) => /^stuck jobs of maintenance were deleted: (\d)$/.exec(message)?.[1]);
  expect(deleted.reduce((sum, count) => sum + Number(count), 0)).toBe(ids.length);
});

it('a job whose workers have died twice is kept for another worker', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  for (const [id, stalls] of [
    ['twice', 2],
    ['thrice', 3],
  ] as const) {
    await redis.ask(`HSET ${queue.toKey(id)} name recoveries.forget data {} opts {} stc ${stalls}`);
    await redis.ask(`RPUSH ${queue.toKey('active')} ${id}`);
  }
  while (errors.length === 0) await queueRepair.repair(0);
  expect(errors.splice(0).map(({ message }) => message)).toEqual([
    'stuck jobs of maintenance were deleted: 1',
  ]);
  expect((await queue.getActive()).map(({ id }) => id)).toEqual(['twice']);
  await queue.obliterate({ force: true });
  await queue.close();
});

it('a job that cannot be parsed is removed from where it was found, without a search through all waiting jobs', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  const [wait, far] = [queue.toKey('wait'), queue.toKey('far')];
  const others = Array.from({ length: 200 }, (_, index) => `other-${index}`);
  for (const key of [far, queue.toKey('broken')])
    await redis.ask(`HSET ${key} name recoveries.forget data {x opts {}`);
  // The next job is at the end of the list; whatever searches from the beginning, or all of it, finds the first ones.
  await redis.ask(`RPUSH ${wait} ${['broken', 'far', ...others, 'broken'].join(' ')}`);
  while (errors.length === 0) await queueRepair.repair(0);
  expect(errors.splice(0)).toHaveLength(1);
  expect(await redis.ask(`EXISTS ${far}`)).toBe(':1\r\n');
  expect(await redis.ask(`LLEN ${wait}`)).toBe(':202\r\n');
  expect(await redis.ask(`LINDEX ${wait} 0`)).toBe('$6\r\nbroken\r\n');
  expect(await redis.ask(`LINDEX ${wait} -1`)).toBe('$9\r\nother-199\r\n');
  await redis.ask(`DEL ${wait} ${far}`);
  await queue.close();
});

it('the job of a dead worker is started again, although the clock of Redis was set back by an hour', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  await queue.add('recoveries.forget', { v: 1 });
  const dead = new Worker(QUEUES.maintenance, null, {
    connection: { url: redis.url },
    prefix,
    lockDuration: 6_000,
  });
  const { id } = await dead.getNextJob('dead');
  // Redis stores the time at which a key expires, which is then an hour further away.
  await redis.ask(`PEXPIRE ${queue.toKey(`${id}:lock`)} 3600000`);
  await redis.ask(`SET ${queue.toKey('stalled-check')} 0 PX 3600000`);
  await dead.close();
  const served: string[] = [];
  const worker = workerOf(QUEUES.maintenance, {
    'recoveries.forget': () => Promise.resolve(void served.push('again')),
  });
  worker.start();
  for (
    const until = performance.now() + GIVEN_UP_AFTER_MS;
    served.length === 0 && performance.now() < until;
  ) {
    await queueRepair.repair(0);
    await sleep(100);
  }
  await Promise.all([worker.close(), queue.close()]);
  expect(served).toEqual(['again']);
  expect(errors).toEqual([]);
});

it('each lock that lasts longer than a new one is shortened, and no other', async () => {
  const queue = queueNamed(QUEUES.maintenance);
  await queue.obliterate({ force: true });
  await queue.addBulk(Array.from({ length: 3 }, () => ({ name: 'recoveries.forget', data: { v: 1 } })));
  const holder = new Worker(QUEUES.maintenance, null, {
    connection: { url: redis.url },
    prefix,
    lockDuration: 6_000,
  });
  const locks: string[] = [];
  for (let jobs = 0; jobs < 3; jobs += 1) {
    const { id } = await holder.getNextJob('holder');
    locks.push(queue.toKey(`${id}:lock`));
  }
  for (const lock of locks.slice(1)) await redis.ask(`PEXPIRE ${lock} 3600000`);
  const isLong = async (lock: string): Promise<boolean> =>
    Number((await redis.ask(`PTTL ${lock}`)).slice(1)) > 6_000;
  await redis.ask('CONFIG RESETSTAT');
  while (await isLong(locks[1]!)) await queueRepair.repair(0);
  const calls = /cmdstat_pexpire:calls=(\d+)/.exec(await redis.ask('INFO commandstats'))?.[1];
  expect(await isLong(locks[2]!)).toBe(false);
  expect(calls).toBe('2');
  await holder.close();
  await queue.obliterate({ force: true });
  await queue.close();
});

it('a lane can be rung again although its job was in a list that Redis has lost', async () => {
  const LANE = 'wrk_01k9zq7v3nf4b8gq2m5c6d7e8f.now' as LaneId;
  const rings = ringsOf('email', 50);
  const served: string[] = [];
  const worker = workerOf(QUEUES.emailTurns, {
    'email.turn': ({ slot }) => Promise.resolve(void served.push(slot)),
  });
  const queue = queueNamed(QUEUES.emailTurns);
  while ((await queue.getWaitingCount()) === 0) {
    rings.ring(LANE);
    await sleep(50);
  }
  await redis.ask(`DEL ${prefix}:${QUEUES.emailTurns}:wait`);
  worker.start();
  rings.ring(LANE);
  await rings.settled();
  await sleep(500);
  expect(served).toEqual([]);
  while (lost.length === 0) await queueRepair.repair(1);
  expect(lost).toEqual([[QUEUES.emailTurns, 1]]);
  rings.ring(LANE);
  while (served.length === 0) await sleep(10);
  await Promise.all([worker.close(), rings.close(), queue.close()]);
});

it('no job that waits, is active, or has failed is removed', async () => {
  lost.length = 0;
  const { promise: goOn, resolve } = Promise.withResolvers<void>();
  const queue = queueNamed(QUEUES.eventTurns);
  await queue.addBulk(Array.from({ length: 500 }, () => ({ name: 'event.turn', data: {} })));
  const worker = workerOf(
    QUEUES.eventTurns,
    { 'event.turn': () => goOn.then(() => Promise.reject(new Error('it failed'))) },
    { concurrency: 3, onError: ignored },
  );
  worker.start();
  while ((await queue.getActiveCount()) < 3) await sleep(10);
  await queueRepair.repair(1);
  resolve();
  // BullMQ keeps a hundred failed jobs: during this test, jobs are removed that have just been seen.
  for (let searches = 0; searches < 30; searches += 1) {
    queueRepair['nextSearchAt'] = 0;
    await queueRepair.repair(1);
  }
  await worker.close();
  expect((await queue.getWaitingCount()) + (await queue.getFailedCount())).toBeLessThanOrEqual(500);
  expect(lost).toEqual([]);
  await queue.close();
});

it('nothing is logged while no queue is paused, and nothing fails while Redis is unavailable', async () => {
  resumed.length = 0;
  await queueRepair.repair(0);
  const away = new QueueRepair({
    url: 'redis://127.0.0.1:1',
    prefix,
    searchEveryMs: 0,
    onError,
    onResumed: onError as never,
    onReset: onError as never,
    onLost: onError as never,
  });
  const before = errors.filter(({ message }) => !message.includes('ECONNREFUSED')).length;
  await away.repair(1);
  await away.close();
  expect(errors.filter(({ message }) => !message.includes('ECONNREFUSED'))).toHaveLength(before);
  expect(resumed).toEqual([]);
  expect(resets).toEqual([]);
});

/** After it, a stream takes no more. */
const LAST_EVENT = '18446744073709551615-18446744073709551615';
const written = (keys: string[], text = 'nonsense'): string[] =>
  keys.map((key) => `SET queue:${key} ${text}`);
it.each([
  ['its keys', written(['wait', 'active', 'delayed', 'repeat', 'marker', 'stalled', 'events', 'meta', '1'])],
  ['the number of its next job', written(['id'])],
  ['the number of its next job by the largest there is', written(['id'], '9223372036854775807')],
  ['the number of its next job by what Lua takes for one', written(['id'], 'nan')],
  ['how many events it keeps', ['HSET queue:meta opts.maxLenEvents nonsense']],
  ['the id of its next event', [`XADD queue:events ${LAST_EVENT} a b`]],
  [
    'the id of its next event, and deleted',
    [`XADD queue:events ${LAST_EVENT} a b`, `XDEL queue:events ${LAST_EVENT}`],
  ],
])(
  'a queue begins anew when something else was written over %s, and another keeps what it has',
  async (_what, commands) => {
    resets.length = 0;
    const other = queueNamed(QUEUES.slowWebhookTurns);
    await other.add('slow-webhook.turn', {});
    const { promise: served, resolve } = Promise.withResolvers<void>();
    const worker = workerOf(
      QUEUES.webhookTurns,
      { 'webhook.turn': () => Promise.resolve(resolve()) },
      { onError: ignored },
    );
    worker.start();
    const rings = ringsOf('webhook', 50, ignored);
    for (const command of commands)
      await redis.ask(command.replace('queue', `${prefix}:${QUEUES.webhookTurns}`));
    while (resets.length === 0) await queueRepair.repair(0);
    const ringing = setInterval(() => rings.ring('wh_01k9zq7v3nf4b8gq2m5c6d7e8f' as LaneId), 20);
    await served;
    clearInterval(ringing);
    expect(resets).toEqual([QUEUES.webhookTurns]);
    expect(await other.getWaitingCount()).toBeGreaterThan(0);
    await Promise.all([worker.close(), rings.close(), other.close()]);
  },
);

describe('Foreign values in the deduplication key of a lane', () => {
  const SLOTS = ['0', '1', '2', '3', 'c0', 'c1'];
  const newLane = (): LaneId => nowLane(newId('wrk', Date.now()));

  it.each<[string, (queue: Queue, slot: string) => string]>([
    ['hashes', (queue, slot) => `HSET ${queue.toKey(`de:${slot}`)} a b`],
    ['lists', (queue, slot) => `RPUSH ${queue.toKey(`de:${slot}`)} a`],
    ['names of what is no job', (queue, slot) => `SET ${queue.toKey(`de:${slot}`)} meta`],
    [
      'names of jobs that are gone, kept for a day',
      (queue, slot) => `SET ${queue.toKey(`de:${slot}`)} gone EX 86400`,
    ],
    ['names of jobs that ended', (queue, slot) => `SET ${queue.toKey(`de:${slot}`)} ended`],
    [
      'names of jobs of theirs that ended',
      (queue, slot) =>
        `EVAL "redis.call('HSET', KEYS[1], 'name', 'email.turn', 'data', '{}', 'opts', '{}', 'deid', ARGV[1], 'finishedOn', 1) redis.call('ZADD', KEYS[2], 1, ARGV[2]) redis.call('SET', KEYS[3], ARGV[2])" 3 ${queue.toKey(`ended-${slot}`)} ${queue.toKey('failed')} ${queue.toKey(`de:${slot}`)} ${slot} ended-${slot}`,
    ],
    ['hashes where what comes next is noted', (queue, slot) => `HSET ${queue.toKey(`dn:${slot}`)} opts {x`],
    ['lists where what comes next is noted', (queue, slot) => `RPUSH ${queue.toKey(`dn:${slot}`)} a`],
  ])('ends: all of its slots are %s', async (_what, commandOf) => {
    const queue = queueNamed(QUEUES.emailTurns);
    await queue.waitUntilReady();
    await redis.ask(`HSET ${queue.toKey('ended')} name email.turn data {} opts {}`);
    await redis.ask(`ZADD ${queue.toKey('failed')} 1 ended`);
    const lane = newLane();
    for (const slot of SLOTS) await redis.ask(commandOf(queue, `${lane}-${slot}`));
    const served: string[] = [];
    const worker = workerOf(
      QUEUES.emailTurns,
      { 'email.turn': ({ slot }) => Promise.resolve(void served.push(slot)) },
      { onError: ignored },
    );
    worker.start();
    const rings = ringsOf('email', 1, ignored);
    for (
      const until = performance.now() + GIVEN_UP_AFTER_MS;
      served.length < 20 && performance.now() < until;
    ) {
      await queueRepair.repair(1);
      rings.ringAll(lane);
      await sleep(20);
    }
    await Promise.all([worker.close(), rings.close()]);
    expect(new Set(served).size).toBe(4);
    expect(served.length).toBeGreaterThanOrEqual(20);
    await queue.close();
  });

  it.each([
    ['a list', 'RPUSH', 'a'],
    ['a text that never ends', 'SET', 'a'],
  ])('ends: the lock of its job is %s', async (_what, command, value) => {
    const queue = queueNamed(QUEUES.eventTurns);
    await queue.obliterate({ force: true });
    const lane = newLane();
    const served: string[] = [];
    const workerThat = (handle: () => Promise<void>): JobWorker<'event.turn'> =>
      workerOf(QUEUES.eventTurns, { 'event.turn': handle }, { onError: ignored });
    const rings = ringsOf('event', 1, ignored);
    const worker = workerThat(async () => {
      served.push('once');
      if (served.length > 1) return;
      const [job] = await queue.getActive();
      await redis.ask(`DEL ${queue.toKey(`${job!.id}:lock`)}`);
      await redis.ask(`${command} ${queue.toKey(`${job!.id}:lock`)} ${value}`);
      await redis.ask(`SET ${queue.toKey('stalled-check')} 0`);
    });
    worker.start();
    while (served.length === 0) {
      rings.ring(lane);
      await sleep(20);
    }
    for (
      const until = performance.now() + GIVEN_UP_AFTER_MS;
      served.length < 2 && performance.now() < until;
    ) {
      await queueRepair.repair(1);
      await sleep(100);
    }
    await Promise.all([worker.close(), rings.close(), queue.close()]);
    expect(served.length).toBeGreaterThanOrEqual(2);
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { Queue } from 'bullmq';
import { QueueRepair, QUEUES } from './index.ts';

/** More patience than usual, but less than what is left open may last: ioredis forgets its timer when a connection is closed. */
const silenceMs = 8_000;

let redis: PrivateRedis;
const errors: Error[] = [];
const onError = (error: Error): void => void errors.push(error);
const ignored = (): void => undefined;

beforeAll(async () => {
  redis = await PrivateRedis.start();
});
afterAll(() => redis.close());

describe('A search for lost jobs while many wait', () => {
  let unshared: string;
  let searching: QueueRepair;
  let queue: Queue;
  let found = 0;

  beforeEach(() => {
    unshared = uniqueQueuePrefix();
    found = 0;
    searching = new QueueRepair({
      url: redis.url,
      prefix: unshared,
      silenceMs,
      searchEveryMs: 0,
      onResumed: ignored,
      onReset: ignored,
      onLost: (_name, jobs) => void (found += jobs),
      onError,
    });
    queue = new Queue(QUEUES.emailTurns, { connection: { url: redis.url }, prefix: unshared });
  });
  afterEach(async () => {
    await Promise.all([searching.close(), queue.close()]);
    expect(errors).toEqual([]);
  });

  /** Loses some jobs, and searches until they are found. @returns how often a command was run in that search */
  const callsWhileLost = async (jobs: number, command: string): Promise<number> => {
    const lose = `for n = 1, ${jobs} do redis.call('HSET', KEYS[1] .. 'lost-' .. n, 'name', 'email.turn') end`;
    await redis.ask(`EVAL "${lose}" 1 ${queue.toKey('')}`);
    // It does nothing until it is connected.
    while (found === 0) {
      await redis.ask('CONFIG RESETSTAT');
      await searching.repair(1);
    }
    expect(found).toBe(jobs);
    const calls = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.ask('INFO commandstats'));
    return Number(calls?.[1]);
  };

  const fill = async (waiting: number): Promise<void> => {
    await queue.waitUntilReady();
    const push = `for id = 1, ${waiting} do redis.call('LPUSH', KEYS[1], id) end`;
    await redis.ask(`EVAL "${push}" 1 ${queue.toKey('wait')}`);
  };

  it('searches the list of waiting jobs only for the lost job, not for failed ones, the others or their deduplication keys', async () => {
    await redis.ask(`HSET ${queue.toKey('unfit')} name email.turn`);
    await redis.ask(`ZADD ${queue.toKey('failed')} 1 unfit`);
    for (let n = 0; n < 50; n += 1)
      await queue.add('email.turn', {}, { deduplication: { id: `lane-${n}`, keepLastIfActive: true } });
    expect(await callsWhileLost(1, 'lpos')).toBe(1);
    expect(await queue.getWaitingCount()).toBe(50);
  });

  it.each([
    ['a long list for few jobs', 100_000, 200, 40],
    ['the longest list for one job', 600_000, 3, 3],
    ['the shortest list for a hundred jobs', 0, 2_000, 20],
  ])('searches %s with one command', async (_what, waiting, jobs, commands) => {
    await fill(waiting);
    expect(await callsWhileLost(jobs, 'eval')).toBeGreaterThanOrEqual(commands);
    expect(await queue.getWaitingCount()).toBe(waiting);
  });
});

describe('Lost jobs', () => {
  const HOUR_MS = 3_600_000;
  let hourly: QueueRepair;

  beforeEach(async () => {
    hourly = new QueueRepair({
      url: redis.url,
      prefix: uniqueQueuePrefix(),
      silenceMs,
      searchEveryMs: HOUR_MS,
      onResumed: ignored,
      onReset: ignored,
      onLost: ignored,
      onError,
    });
    await redis.ask('CONFIG RESETSTAT');
    while (!(await hasRun('eval'))) await hourly.repair(1);
  });
  afterEach(async () => {
    await hourly.close();
    expect(errors).toEqual([]);
  });

  const hasRun = async (command: string): Promise<boolean> =>
    (await redis.ask('INFO commandstats')).includes(`cmdstat_${command}:`);

  /** Whether they are searched for in a round of repairs while this many lanes have due work. */
  const isSearched = async (lanes: number): Promise<boolean> => {
    await redis.ask('CONFIG RESETSTAT');
    await hourly.repair(lanes);
    return hasRun('scan');
  };

  it('are not searched for at once, nor before the pause after a search is over', async () => {
    expect(await hasRun('scan')).toBe(false);
    hourly['nextSearchAt'] = 0;
    expect([await isSearched(1), await isSearched(1)]).toEqual([true, false]);
  });

  it('are not searched for while no lane has due work, nor soon after that', async () => {
    hourly['nextSearchAt'] = 0;
    expect([await isSearched(0), await isSearched(1)]).toEqual([false, false]);
  });

  it('are searched for, and queues repaired, by one round at a time, which ends before the connections are closed', async () => {
    const commandsOf = async (rounds: number): Promise<string | undefined> => {
      await redis.ask('CONFIG RESETSTAT');
      await Promise.all(Array.from({ length: rounds }, () => hourly.repair(0)));
      return /cmdstat_eval:calls=(\d+)/.exec(await redis.ask('INFO commandstats'))?.[1];
    };
    expect(await commandsOf(2)).toBe(await commandsOf(1));
    hourly['nextSearchAt'] = 0;
    const round = hourly.repair(1);
    await hourly.close();
    await round;
  });
});

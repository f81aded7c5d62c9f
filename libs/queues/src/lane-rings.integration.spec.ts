import { afterEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { PrivateRedis, testRedisUrl, uniqueQueuePrefix } from '@posthorn/testing';
import type { RedisOptions } from './connections.ts';
import { JobWorker, LaneRings, QUEUES } from './index.ts';

describe('LaneRings', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  const onError = (error: Error): void => void errors.push(error);
  const errors: Error[] = [];

  /** Of a server that answers, even on a busy machine, before it is given up. */
  function redisOptions(): RedisOptions {
    return { url: testRedisUrl(), prefix: uniqueQueuePrefix(), silenceMs: 8_000 };
  }

  async function startRings(redis: RedisOptions, count: number): Promise<LaneRings[]> {
    const rings = Array.from(
      { length: count },
      () => new LaneRings({ ...redis, turnQueue: 'email', rowsPerTurn: 50, onError }),
    );
    for (const one of rings) closers.push(() => one.close());
    for (const one of rings)
      while (
        !(await one.ping().then(
          () => true,
          () => false,
        ))
      )
        await sleep(5);
    return rings;
  }

  function startWorker(redis: RedisOptions, turn: () => Promise<void>): void {
    const handlers = { 'email.turn': turn };
    const worker = new JobWorker({ ...redis, queue: QUEUES.emailTurns, concurrency: 5, handlers, onError });
    worker.start();
    closers.push(() => worker.close());
  }

  it('writes only to the Redis database that is configured', async () => {
    const other = await PrivateRedis.start();
    closers.push(() => other.close());
    const told: string[] = [];
    const rings = new LaneRings({
      url: `${other.url}/99`,
      prefix: 'posthorn',
      turnQueue: 'email',
      rowsPerTurn: 50,
      onError: ({ message }) => void told.push(message),
    });
    closers.push(() => rings.close());
    const worker = new JobWorker({
      url: `${other.url}/99`,
      prefix: 'posthorn',
      queue: QUEUES.emailTurns,
      concurrency: 5,
      handlers: { 'email.turn': () => Promise.resolve() },
      onError: ({ message }) => void told.push(message),
    });
    worker.start();
    closers.push(() => worker.close());
    await expect(rings.ping()).rejects.toThrow();
    rings.ring(nowLane(newId('wrk', Date.now())));
    while (told.filter((message) => message.includes('out of range')).length < 5) await sleep(10);
    expect(await other.ask('DBSIZE')).toMatch(/^:?0/);
  });

  it('loses none of 1,000 concurrent rings: the last turn of a lane begins after its last ring', async () => {
    const redis = redisOptions();
    const lane = nowLane(newId('wrk', Date.now()));
    const rings = await startRings(redis, 3);
    let rung = 0;
    let seen = 0;
    let turns = 0;
    const turn = async (): Promise<void> => {
      turns += 1;
      seen = Math.max(seen, rung); // a claim sees every row that was committed before it
      await sleep(Math.random() * 3);
    };
    startWorker(redis, turn);
    startWorker(redis, turn);
    for (let ring = 0; ring < 1_000; ring += 1) {
      rung += 1; // the row is committed, then its lane is rung
      rings[ring % rings.length]!.ring(lane);
      if (ring % 7 === 0) await sleep(Math.random() * 2);
    }
    while (seen < 1_000) await sleep(10);
    expect(turns).toBeLessThan(1_000);
    expect(errors).toEqual([]);
  });

  it('keeps a ring that comes during the only turn of a slot: another turn follows', async () => {
    const redis = redisOptions();
    const lane = nowLane(newId('wrk', Date.now()));
    const [rings] = await startRings(redis, 1);
    const first = Promise.withResolvers<void>();
    let begun = 0;
    startWorker(redis, () => ((begun += 1) === 1 ? first.promise : Promise.resolve()));
    rings!.ring(lane);
    while (begun < 1) await sleep(5);
    rings!.ring(lane);
    await rings!.settled();
    first.resolve();
    while (begun < 2) await sleep(5);
    expect(errors).toEqual([]);
  });

  it('adds what was rung before it is closed', async () => {
    const redis = redisOptions();
    const [rings] = await startRings(redis, 1);
    rings!.ring(nowLane(newId('wrk', Date.now())));
    await rings!.close();
    let begun = 0;
    startWorker(redis, () => Promise.resolve(void (begun += 1)));
    while (begun < 1) await sleep(5);
    expect(errors).toEqual([]);
  });

  it('keeps at most one waiting and one running turn for each slot of a lane, however often it is rung', async () => {
    const redis = redisOptions();
    const lane = nowLane(newId('wrk', Date.now()));
    const [rings] = await startRings(redis, 1);
    let running = 0;
    let max = 0;
    const turn = async (): Promise<void> => {
      max = Math.max(max, (running += 1));
      await sleep(20);
      running -= 1;
    };
    startWorker(redis, turn);
    startWorker(redis, turn);
    for (let ring = 0; ring < 100; ring += 1) {
      rings!.ring(lane);
      await sleep(2);
    }
    expect(max).toBe(1);
  });

  it('rings one slot for each turn that the rows need, but at most four', async () => {
    const redis = redisOptions();
    const [rings] = await startRings(redis, 1);
    const slots: string[] = [];
    const lanes = [1, 50, 51, 120, 10_000].map((rows) => ({ rows, lane: nowLane(newId('wrk', Date.now())) }));
    for (const { rows, lane } of lanes) rings!.ring(lane, rows);
    await rings!.settled();
    const worker = new JobWorker({
      ...redis,
      queue: QUEUES.emailTurns,
      concurrency: 20,
      handlers: { 'email.turn': ({ laneId, slot }) => Promise.resolve(void slots.push(`${laneId}/${slot}`)) },
      onError,
    });
    worker.start();
    closers.push(() => worker.close());
    while (slots.length < 11) await sleep(10);
    await sleep(50);
    const counts = lanes.map(({ lane }) => slots.filter((slot) => slot.startsWith(lane)).length);
    expect(counts).toEqual([1, 1, 2, 3, 4]);
  });

  it('neither waits nor fails while Redis is unavailable', async () => {
    const rings = new LaneRings({
      turnQueue: 'email',
      url: 'redis://127.0.0.1:1',
      prefix: 'x',
      rowsPerTurn: 50,
      onError: () => undefined,
    });
    for (let ring = 0; ring < 1_000; ring += 1) rings.ring(nowLane(newId('wrk', Date.now())));
    const begun = performance.now();
    await rings.settled();
    // Each would have waited two seconds for Redis.
    expect(performance.now() - begun).toBeLessThan(60_000);
    await rings.close();
  });
});

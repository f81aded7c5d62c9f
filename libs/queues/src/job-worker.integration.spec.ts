import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { FaultProxy, PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { Queue } from 'bullmq';
import { JobWorker, LaneRings, QUEUES } from './index.ts';
import type { JobWorkerOptions } from './job-worker.ts';

/** Longer than a busy machine delays a canary job. */
const LIVENESS = { canaryEveryMs: 50, stuckAfterMs: 4_000 };
const LANE = nowLane(newId('wrk', Date.now()));

describe('a worker', () => {
  let redis: PrivateRedis;
  let prefix: string;
  const workers: JobWorker<'email.turn'>[] = [];
  const errors: Error[] = [];

  beforeEach(async () => {
    redis = await PrivateRedis.start();
    prefix = uniqueQueuePrefix();
    errors.length = 0;
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    await redis.close();
  });

  function startWorker(
    turn: () => Promise<void> = () => Promise.resolve(),
    change: Partial<JobWorkerOptions<'email.turn'>> = {},
  ): JobWorker<'email.turn'> {
    const worker = new JobWorker<'email.turn'>({
      url: redis.url,
      prefix,
      queue: QUEUES.emailTurns,
      concurrency: 1,
      liveness: LIVENESS,
      handlers: { 'email.turn': turn },
      onError: (error) => void errors.push(error),
      ...change,
    });
    worker.start();
    workers.push(worker);
    return worker;
  }

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await sleep(10);
  }

  async function ring(): Promise<void> {
    const onError = (error: Error): void => void errors.push(error);
    const rings = new LaneRings({ turnQueue: 'email', url: redis.url, prefix, rowsPerTurn: 50, onError });
    await rings.ping().catch(onError);
    rings.ring(nowLane(newId('wrk', Date.now())));
    await rings.settled();
    await rings.close();
  }

  /** A ring may be lost when Redis is slow to answer, so rings are repeated, as the clock does. */
  async function ringUntil(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await ring();
      for (let n = 0; n < 100 && !isSo(); n += 1) await sleep(10);
    }
  }

  const hasServed = (worker: JobWorker<'email.turn'>): boolean =>
    /^last job \d+ ms ago$/.test(worker.liveness().detail);

  it('without work counts as alive, because it serves its canary jobs', async () => {
    const liveness = { canaryEveryMs: 50, stuckAfterMs: 60_000 };
    const worker = startWorker(undefined, { liveness, silenceMs: 8_000 });
    expect(worker.liveness()).toEqual({ ok: true, detail: 'Redis has not been asked yet' });
    await until(() => hasServed(worker));
    // Each canary that is served sets the time since the last job back.
    for (let canaries = 0, lastMs = 0; canaries < 50;) {
      await sleep(10);
      const idleMs = Number(/\d+/.exec(worker.liveness().detail)?.[0]);
      if (idleMs < lastMs) canaries += 1;
      lastMs = idleMs;
    }
    expect(worker.liveness().ok).toBe(true);
    expect(errors).toEqual([]);
  });

  it('that serves no jobs although Redis answers counts as stuck', async () => {
    const { promise: isOver, resolve: release } = Promise.withResolvers<void>();
    let begun = 0;
    const worker = startWorker(() => {
      begun += 1;
      return isOver;
    });
    await ringUntil(() => begun > 0);
    await until(() => !worker.liveness().ok);
    release();
    await until(() => worker.liveness().ok);
  });

  it('does not count as stuck while Redis does not answer, and serves again when it does', async () => {
    let served = 0;
    const worker = startWorker(() => Promise.resolve(void (served += 1)));
    await until(() => hasServed(worker));
    redis.freeze();
    await until(() => worker.liveness().detail === 'Redis does not answer');
    await sleep(LIVENESS.stuckAfterMs);
    expect(worker.liveness()).toEqual({ ok: true, detail: 'Redis does not answer' });
    redis.thaw();
    await ringUntil(() => served > 0);
    await redis.restart();
    const before = served;
    await ringUntil(() => served > before);
    await until(() => worker.liveness().ok);
  });

  it('that started without the rights that it needs in Redis serves as soon as it has them', async () => {
    let served = 0;
    await redis.ask('ACL SETUSER default -info');
    startWorker(() => Promise.resolve(void (served += 1)));
    await until(() => errors.some((error) => error.message.includes('NOPERM')));
    await redis.ask('ACL SETUSER default +info');
    await ringUntil(() => served > 0);
  });

  it('pauses before it asks again while Redis rejects what it asks, and serves when Redis does not', async () => {
    const { promise: isOver, resolve: release } = Promise.withResolvers<void>();
    let [begun, served] = [0, 0];
    startWorker(async () => {
      begun += 1;
      await isOver;
      served += 1;
    });
    await ringUntil(() => begun > 0);
    await redis.ask('ACL SETUSER default -evalsha');
    release();
    await until(() => errors.some((error) => error.message.includes('NOPERM')));
    errors.length = 0;
    await sleep(2_000);
    expect(errors.length).toBeLessThan(20);
    await redis.ask('ACL SETUSER default +evalsha');
    const before = served;
    await ringUntil(() => served > before);
  });

  it('that is closed while Redis does not answer does not try to connect any more', async () => {
    const proxy = await FaultProxy.before(redis.url);
    const worker = startWorker(undefined, { url: proxy.urlFor(redis.url) });
    await until(() => hasServed(worker));
    proxy.freeze();
    await worker.close();
    await proxy.refuse();
    let attempts = 0;
    const successor = createServer((socket) => {
      attempts += 1;
      socket.destroy();
    });
    await new Promise<void>((listening) => successor.listen(proxy.port, '127.0.0.1', listening));
    // Longer than the longest pause between attempts.
    await sleep(3_000);
    expect(attempts).toBe(0);
    await new Promise((closed) => successor.close(closed));
    await proxy.close();
  });

  it('logs a job that it has no handler for, and goes on', async () => {
    let served = 0;
    startWorker(() => Promise.resolve(void (served += 1)));
    const stranger = new JobWorker<never>({
      url: redis.url,
      prefix: `${prefix}-other`,
      queue: QUEUES.emailTurns,
      concurrency: 1,
      handlers: {},
      onError: (error) => void errors.push(error),
    });
    stranger.start();
    prefix = `${prefix}-other`;
    await ringUntil(() =>
      errors.some((error) => error.message.includes('no handler for the job "email.turn"')),
    );
    await stranger.close();
    expect(served).toBe(0);
  });

  it('tries no job again, whatever the options of the job say', async () => {
    startWorker(undefined, { silenceMs: 8_000 });
    const queue = new Queue(QUEUES.emailTurns, { connection: { url: redis.url }, prefix });
    await queue.add('unknown', {}, { attempts: 1_000_000 });
    await until(() => errors.some((error) => error.message.includes('no handler')));
    while ((await queue.getFailedCount()) === 0) await sleep(10);
    await queue.close();
    expect(errors).toHaveLength(1);
  });

  it('keeps no job that is done, and of those that failed the last hundred', async () => {
    let served = 0;
    startWorker(() => Promise.resolve(void (served += 1)));
    await ringUntil(() => served > 0);
    const queue = new Queue(QUEUES.emailTurns, { connection: { url: redis.url }, prefix });
    await queue.addBulk(Array.from({ length: 120 }, () => ({ name: 'unknown', data: {} })));
    const failed = (): number => errors.filter(({ message }) => message.includes('no handler')).length;
    await until(() => failed() === 120);
    expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 0, failed: 100 });
    await queue.close();
  });

  it('serves a lane of a kind that only another release knows', async () => {
    let served = 0;
    startWorker(() => Promise.resolve(void (served += 1)));
    const queue = new Queue(QUEUES.emailTurns, { connection: { url: redis.url }, prefix });
    await queue.add('email.turn', { v: 1, laneId: `${newId('wrk', Date.now())}.later`, slot: '0' });
    await queue.close();
    await until(() => served > 0 || errors.length > 0);
    expect([served, errors]).toEqual([1, []]);
  });

  it.each([
    ['without a lane', 'email.turn', { v: 1, slot: '0' }, 'names no valid lane'],
    [
      'with another thing than a lane',
      'email.turn',
      { v: 1, laneId: 'a b', slot: '0' },
      'names no valid lane',
    ],
    ['of another version', 'email.turn', { v: 2, laneId: LANE, slot: '0' }, 'names no valid lane'],
    ['by the name of what every object has', 'constructor', { v: 1 }, 'no handler for the job "constructor"'],
  ])('refuses a job %s', async (_how, name, data, fault) => {
    let served = 0;
    startWorker(() => Promise.resolve(void (served += 1)));
    const queue = new Queue(QUEUES.emailTurns, { connection: { url: redis.url }, prefix });
    await queue.add(name, data);
    await queue.close();
    await until(() => errors.some((error) => error.message.includes(fault)));
    expect(served).toBe(0);
  });
});

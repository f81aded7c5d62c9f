import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowLane } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { PrivateRedis, uniqueQueuePrefix } from '@posthorn/testing';
import { JobWorker, LaneRings, QUEUES } from './index.ts';

const LIVENESS = { canaryEveryMs: 50, stuckAfterMs: 600 };

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

  function startWorker(turn: () => Promise<void> = () => Promise.resolve()): JobWorker<'email.turn'> {
    const worker = new JobWorker<'email.turn'>({
      ...{ url: redis.url, prefix, queue: QUEUES.emailTurns, concurrency: 1, liveness: LIVENESS },
      handlers: { 'email.turn': turn },
      onError: (error) => void errors.push(error),
    });
    worker.start();
    workers.push(worker);
    return worker;
  }

  async function until(isSo: () => boolean, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!isSo() && performance.now() < deadline) await sleep(10);
    expect(isSo()).toBe(true);
  }

  async function ring(): Promise<void> {
    const rings = new LaneRings({
      line: 'email',
      url: redis.url,
      prefix,
      rowsPerTurn: 50,
      onError: (error) => void errors.push(error),
    });
    await rings.ping();
    rings.ring(nowLane(newId('wrk', Date.now())));
    await rings.settled();
    await rings.close();
  }

  it('that has nothing to do lives, because it serves its canaries', async () => {
    const worker = startWorker();
    await sleep(3 * LIVENESS.stuckAfterMs);
    expect(worker.liveness()).toEqual({ ok: true, detail: expect.stringMatching(/^last job \d+ ms ago$/) });
    expect(errors).toEqual([]);
  });

  it('that serves nothing any more, although Redis answers, is stuck', async () => {
    let release: () => void = () => undefined;
    const worker = startWorker(() => new Promise((resolve) => (release = resolve)));
    await ring();
    await until(() => !worker.liveness().ok, 5_000);
    release();
    await until(() => worker.liveness().ok, 5_000);
  });

  it('has nothing held against it while Redis does not answer, and serves again when it does', async () => {
    let served = 0;
    const worker = startWorker(() => Promise.resolve(void (served += 1)));
    await sleep(200);
    redis.freeze();
    await sleep(4_000);
    expect(worker.liveness()).toEqual({ ok: true, detail: 'Redis does not answer' });
    redis.thaw();
    await ring();
    await until(() => served === 1, 10_000);
    await redis.restart();
    await ring();
    await until(() => served === 2, 15_000);
    await until(() => worker.liveness().ok, 5_000);
  });

  it('says which job it has no handler for, and goes on', async () => {
    let served = 0;
    startWorker(() => Promise.resolve(void (served += 1)));
    const stranger = new JobWorker<never>({
      ...{ url: redis.url, prefix: `${prefix}-other`, queue: QUEUES.emailTurns, concurrency: 1 },
      handlers: {},
      onError: (error) => void errors.push(error),
    });
    stranger.start();
    prefix = `${prefix}-other`;
    await ring();
    await until(
      () => errors.some((error) => error.message.includes('no handler for the job "email.turn"')),
      5_000,
    );
    await stranger.close();
    expect(served).toBe(0);
  });
});

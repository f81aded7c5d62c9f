import { setImmediate as settled } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { Refusal } from './errors.ts';
import { ConcurrencyLimit, FairConcurrencyLimit, KeyedConcurrencyLimit } from './concurrency-limit.ts';

const refusal = (): Refusal => new Refusal(503, 'Too many at once; try again', { retryAfterSeconds: 3 });

/** Works that run until they are let go, in the order in which they began. */
function scene(maxConcurrent: number, maxWaiting: number) {
  const begun: { name: string; end: (error?: Error) => void }[] = [];
  const limit = new ConcurrencyLimit({ maxConcurrent, maxWaiting, refusal });
  const run = (name: string, gone?: AbortSignal): Promise<string> =>
    limit.run(
      () =>
        new Promise((resolve, reject) =>
          begun.push({ name, end: (error) => (error === undefined ? resolve(name) : reject(error)) }),
        ),
      gone,
    );
  return { run, begun, names: () => begun.map(({ name }) => name) };
}

describe('ConcurrencyLimit', () => {
  it('runs as many tasks as permitted, and the others in order of arrival', async () => {
    const { run, begun, names } = scene(2, 5);
    const all = ['a', 'b', 'c', 'd'].map((name) => run(name));
    await settled();
    expect(names()).toEqual(['a', 'b']);
    begun[1]!.end();
    await settled();
    expect(names()).toEqual(['a', 'b', 'c']);
    begun[0]!.end();
    begun[2]!.end();
    await settled();
    begun[3]!.end();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('continues after a task that failed, without affecting others', async () => {
    const { run, begun } = scene(1, 5);
    const [bad, good] = [run('bad'), run('good')];
    await settled();
    begun[0]!.end(new Error('broken'));
    await expect(bad).rejects.toThrow('broken');
    await settled();
    begun[1]!.end();
    expect(await good).toBe('good');
  });

  it('refuses a task when too many are waiting, with 503 and Retry-After; later there is capacity again', async () => {
    const { run, begun } = scene(1, 1);
    const first = run('first');
    const second = run('second');
    await settled();
    await expect(run('third')).rejects.toMatchObject({
      statusCode: 503,
      message: refusal().message,
      details: { retryAfterSeconds: 3 },
    });
    begun[0]!.end();
    await first;
    const fourth = run('fourth');
    await settled();
    begun[1]!.end();
    await second;
    await settled();
    begun[2]!.end();
    expect(await fourth).toBe('fourth');
  });

  it('does not run a task whose caller has gone, and frees its place at once', async () => {
    const { run, begun, names } = scene(1, 2);
    const caller = new AbortController();
    const first = run('first', caller.signal);
    const second = run('second', caller.signal);
    const third = run('third');
    await settled();
    caller.abort();
    await expect(second).rejects.toMatchObject({ statusCode: 503 });
    await expect(run('late', caller.signal)).rejects.toMatchObject({ statusCode: 503 });
    const fourth = run('fourth');
    for (const index of [0, 1, 2]) {
      begun[index]!.end();
      await settled();
    }
    expect(await Promise.all([first, third, fourth])).toEqual(['first', 'third', 'fourth']);
    expect(names()).toEqual(['first', 'third', 'fourth']);
  });
});

/** Runs tasks of keys; `begun` has their names, and `ends` ends them, both in the order in which they began. */
function tasksOf(limit: Pick<KeyedConcurrencyLimit<string>, 'run'>) {
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const run = (key: string, name: string): Promise<void> =>
    limit.run(key, () => {
      begun.push(name);
      return new Promise((resolve) => ends.push(resolve));
    });
  return { run, begun, ends };
}

describe('KeyedConcurrencyLimit', () => {
  it('lets tasks wait only for tasks with the same key', async () => {
    const { run, begun, ends } = tasksOf(
      new KeyedConcurrencyLimit<string>({ maxConcurrent: 1, maxWaiting: 1, refusal }),
    );
    const all = [run('a', 'a1'), run('a', 'a2'), run('b', 'b1')];
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    await expect(run('a', 'a3')).rejects.toMatchObject({ statusCode: 503 });
    ends[0]!();
    await settled();
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    all.push(run('a', 'a4'));
    await settled();
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    ends.forEach((end) => end());
    await settled();
    ends[3]!();
    await Promise.all(all);
    const later = run('a', 'a5');
    await settled();
    ends[4]!();
    await later;
    expect(begun.at(-1)).toBe('a5');
  });

  it('keeps no key that has no tasks: those of a gateway are the networks of all that ever opened a link', async () => {
    const limit = new KeyedConcurrencyLimit<object>({ maxConcurrent: 1, maxWaiting: 1, refusal });
    const keys = await Promise.all(Array.from({ length: 100 }, () => usedKey(limit)));
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('globalThis.gc') as () => void;
    setFlagsFromString('--no-expose-gc');
    await settled();
    collectGarbage();
    // The stack may still have a few of them.
    expect(keys.filter((key) => key.deref() !== undefined).length).toBeLessThan(10);
    expect(limit).toBeDefined();
  });
});

/** A key whose only task has succeeded or failed. */
async function usedKey(limit: KeyedConcurrencyLimit<object>): Promise<WeakRef<object>> {
  const key = {};
  await limit.run(key, () => Promise.resolve());
  await limit.run(key, () => Promise.reject(new Error('broken'))).catch(() => undefined);
  return new WeakRef(key);
}

describe('FairConcurrencyLimit', () => {
  it('runs one task of each key at a time, so that one with many tasks neither delays nor refuses those of others', async () => {
    const { run, begun, ends } = tasksOf(
      new FairConcurrencyLimit<string>({ maxConcurrent: 2, maxWaiting: 2, refusal }),
    );
    const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')];
    await expect(run('a', 'a4')).rejects.toMatchObject({ statusCode: 503 });
    all.push(run('b', 'b1'), run('c', 'c1'), run('d', 'd1'));
    await expect(run('e', 'e1')).rejects.toMatchObject({ statusCode: 503 });
    expect(begun).toEqual(['a1', 'b1']);
    for (let ended = 0; ended < all.length; ended += 1) {
      ends[ended]!();
      await settled();
    }
    await Promise.all(all);
    expect(begun).toEqual(['a1', 'b1', 'c1', 'd1', 'a2', 'a3']);
  });
});

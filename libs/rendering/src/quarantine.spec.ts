import { describe, expect, it, jest } from '@jest/globals';
import { FairSemaphore } from './fair-semaphore.ts';
import { RenderingFailed } from './rendering-failed.ts';
import type { RenderingThreads } from './rendering-threads.ts';
import { Quarantine } from './quarantine.ts';

const failure = (reason: RenderingFailed['reason']) => new RenderingFailed(reason, 'it failed');

describe('Quarantine', () => {
  it.each([
    ['deadline', true],
    ['memory', true],
    ['crash', false],
    ['busy', false],
    ['too_large', false],
    ['fault', false],
  ] as const)('contains the owner of a failure for %s: %s', (reason, isQuarantined) => {
    const quarantine = new Quarantine('the work', 600_000);
    quarantine.noteFailure('a', failure(reason));
    quarantine.noteFailure('b', new Error('of another kind'));
    expect([quarantine.has('a'), quarantine.has('b')]).toEqual([isQuarantined, false]);
  });

  it('ends when its time is over, counted from the last failure', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    const quarantine = new Quarantine('the work', 600_000);
    quarantine.noteFailure('a', failure('deadline'));
    now.mockReturnValue(300_000);
    quarantine.noteFailure('a', failure('deadline'));
    now.mockReturnValue(899_999);
    expect(quarantine.has('a')).toBe(true);
    now.mockReturnValue(900_000);
    expect(quarantine.has('a')).toBe(false);
    now.mockRestore();
  });

  it('keeps a thousand owners, and forgets the one with the oldest failure first', () => {
    const quarantine = new Quarantine('the work', 600_000);
    for (let owner = 0; owner < 1_000; owner += 1) quarantine.noteFailure(`${owner}`, failure('memory'));
    quarantine.noteFailure('0', failure('memory'));
    quarantine.noteFailure('another', failure('memory'));
    expect(['0', '1', '2', 'another'].map((owner) => quarantine.has(owner))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('serves owners in it one at a time, in order, even after failures; more than four waiting are refused', async () => {
    const quarantine = new Quarantine('the work', 600_000);
    const steps: string[] = [];
    const task = (name: string) => async () => {
      steps.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      steps.push(`${name} ends`);
      if (name === '1') throw failure('deadline');
    };
    const asked = ['1', '2', '3', '4', '5'].map((name) => quarantine.runSerially(task(name)));
    const [first, , , , fifth] = await Promise.allSettled(asked);
    expect(first).toMatchObject({ reason: { reason: 'deadline' } });
    expect(fifth).toMatchObject({
      reason: { reason: 'busy', message: 'the work waits behind 4 others that may be slow' },
    });
    expect(steps).toEqual(['1', '2', '3', '4'].flatMap((name) => [`${name} begins`, `${name} ends`]));
    await quarantine.runSerially(task('6'));
    expect(steps.at(-1)).toBe('6 ends');
  });

  it('also serves tasks one at a time that were waiting for a thread already when their owner failed', async () => {
    const quarantine = new Quarantine('the work', 600_000);
    const turns = new FairSemaphore(1);
    let turnedAway = 0;
    const threads = {
      run: async (owner: string, take: () => string | undefined) => {
        const release = await turns.take(owner);
        const task = take();
        release();
        if (task === '1') throw failure('deadline');
        if (task === undefined) turnedAway += 1;
        return task;
      },
    } as unknown as RenderingThreads<string, string>;
    const asked = ['1', '2', '3'].map((task) => quarantine.run(threads, task, 'a'));
    const [, second, third] = await Promise.allSettled(asked);
    expect([second, third]).toMatchObject([{ value: '2' }, { value: '3' }]);
    expect(turnedAway).toBe(2);
  });
});

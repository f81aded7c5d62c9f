import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RenderingThreads } from './rendering-threads.ts';

const START_MS = 2_000;

describe('Threads that take longer to start than a task may take', () => {
  let directory: string;
  let slow: string;
  let stuck: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'posthorn-threads-'));
    slow = join(directory, 'slow-start.mjs');
    stuck = join(directory, 'no-start.mjs');
    writeFileSync(stuck, 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
    writeFileSync(
      slow,
      `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${START_MS});
       export default (task) => {
         if (task === 'endless') for (;;);
         return task;
       };`,
    );
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  async function outcomesOf(worker: string, tasks: string[], deadlineMs: number): Promise<unknown[]> {
    const threads = new RenderingThreads<string, string>(worker, 'the work', { maxThreads: 1, deadlineMs });
    const outcomes = tasks.map((task) => threads.run('a', () => task).catch((failure: unknown) => failure));
    await Promise.all(outcomes);
    await threads.close();
    return Promise.all(outcomes);
  }

  it('take none of its time from a task', async () => {
    expect(await outcomesOf(slow, ['x', 'endless'], 1_000)).toEqual([
      'x',
      expect.objectContaining({ reason: 'deadline', message: 'the work took longer than 1000 ms' }),
    ]);
  });

  it('are nobody’s fault: the task fails as busy when none has started in time', async () => {
    expect(await outcomesOf(stuck, ['x'], 100)).toEqual([
      expect.objectContaining({
        reason: 'busy',
        message: 'the work waits for a thread, and none has started within 600 ms',
      }),
    ]);
  });
});

describe('Threads that cannot start', () => {
  it('are reported: for a task they are nobody’s fault', async () => {
    const onError = jest.fn();
    const threads = new RenderingThreads<string, string>('file:///nowhere.mjs', 'the work', { onError });
    await expect(threads.run('a', () => 'x')).rejects.toMatchObject({
      reason: 'busy',
      message: 'the work waits for a thread, and none can be started',
    });
    await threads.close();
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ message: expect.stringContaining('/nowhere.mjs') }),
    );
  });
});

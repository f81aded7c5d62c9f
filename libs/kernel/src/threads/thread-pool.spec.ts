import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { NODE_ON_SOURCES } from '@posthorn/testing';
import { ThreadPool } from './thread-pool.ts';

/** Returns which thread ran the task; tasks of other words than `who` fail in their own ways. */
const MODULE = `data:text/javascript,${encodeURIComponent(`
  import { threadId } from 'node:worker_threads';
  export default (task) => {
    if (task === 'throw') throw new RangeError('too deep');
    if (task === 'exit') process.exit(3);
    if (task === 'die later') setTimeout(() => { throw new Error('a late fault'); }, 100);
    if (task === 'endless') for (;;);
    if (task === 'return a function') return () => undefined;
    return threadId;
  };`)}`;

describe('ThreadPool', () => {
  const onError = jest.fn();
  let pool: ThreadPool<string, number>;
  afterEach(async () => {
    await pool.close();
    onError.mockReset();
  });

  function open(limits: { maxThreads?: number; module?: string } = {}): void {
    pool = new ThreadPool({ module: MODULE, maxThreads: 2, resourceLimits: {}, onError, ...limits });
  }
  const run = async (task = 'who'): Promise<number> => pool.take().run(task).result;

  it('starts a thread only when none is idle, up to the maximum', async () => {
    open();
    const first = await run();
    expect(await run()).toBe(first);
    const together = await Promise.all([run(), run(), run(), run()]);
    expect(together.filter((thread) => thread === first)).toHaveLength(2);
    expect(new Set(together).size).toBe(2);
  });

  it('a task that throws leaves its thread as it is', async () => {
    open({ maxThreads: 1 });
    const thread = await run();
    await expect(run('throw')).rejects.toMatchObject({ name: 'RangeError', message: 'too deep' });
    await expect(run('return a function')).rejects.toThrow('could not be cloned');
    expect(await run()).toBe(thread);
  });

  it('a thread that ends rejects its tasks, and another one takes its place', async () => {
    open({ maxThreads: 1 });
    const thread = await run();
    const [exiting, waiting] = await Promise.allSettled([run('exit'), run()]);
    expect([exiting, waiting]).toMatchObject(
      [1, 2].map(() => ({ reason: { message: 'its thread ended with exit code 3' } })),
    );
    expect(await run()).toBeGreaterThan(thread);
    expect(onError).not.toHaveBeenCalled();
  });

  it('says of what a thread died that had no task', async () => {
    open();
    await run('die later');
    while (onError.mock.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: 'a late fault' }));
    expect(await run()).toEqual(expect.any(Number));
  });

  it('ends a thread in the middle of a task, for the given reason', async () => {
    open();
    const thread = pool.take();
    const { result, hasBegun } = thread.run('endless');
    while (!hasBegun()) await new Promise((resolve) => setTimeout(resolve, 10));
    void thread.end(new Error('too slow'));
    await expect(result).rejects.toThrow('too slow');
    expect(await run()).toEqual(expect.any(Number));
  });

  it('a module that cannot be loaded fails its tasks before they begin', async () => {
    open({ module: 'file:///nowhere.mjs' });
    const { result, hasBegun } = pool.take().run('who');
    await expect(result).rejects.toThrow('/nowhere.mjs');
    expect(hasBegun()).toBe(false);
  });

  it('only the next task suffers when the system gives no more threads', () => {
    const program = fileURLToPath(new URL('./without-threads.fixture.ts', import.meta.url));
    const [node, ...flags] = NODE_ON_SOURCES;
    const output = execFileSync(node!, [...flags, program], { encoding: 'utf8', timeout: 200_000 });
    expect(JSON.parse(output)).toEqual({
      refused: Array.from({ length: 3 }, () => 'ERR_WORKER_INIT_FAILED'),
      ran: [500, 500],
      runsAgain: 1,
    });
  });
});

import { describe, expect, it } from '@jest/globals';
import { serveGroup } from './serve-group.ts';

const fault = (code: string): Error => Object.assign(new Error(code), { code });
const [LOCKED, REJECTED, UNREACHABLE] = [fault('55P03'), fault('22021'), fault('ECONNREFUSED')];

interface Tried {
  readonly calls: readonly string[];
  readonly lockTimeoutMs: number | undefined;
}

/** Serves calls by a database that takes those that `take` does not throw for. Calls with the same first letter lock the same. */
async function served(
  calls: readonly string[],
  take: (call: string, lockTimeoutMs: number) => void,
): Promise<{ tried: Tried[]; outcomes: object[] }> {
  const tried: Tried[] = [];
  const outcomes = await serveGroup(calls, {
    serve: async (some, lockTimeoutMs) => {
      await Promise.resolve();
      tried.push({ calls: some, lockTimeoutMs });
      for (const call of some) take(call, lockTimeoutMs ?? 2_000);
      return some.map((call) => ({ kind: 'done', call }));
    },
    lockedBy: ([letter]) => letter,
  });
  return { tried, outcomes };
}

const done = (call: string): object => ({ kind: 'done', call });
const failed = (error: Error): object => ({ kind: 'failed', error });

describe('A group of calls', () => {
  it('of which some are locked out waits for locks for two seconds more, however many they are, and serves the others once', async () => {
    const isHeld = (call: string): boolean => call !== 'z';
    const { tried, outcomes } = await served([...'abcdefghijklmnopqrstuvwxyz'], (call) => {
      if (isHeld(call)) throw LOCKED;
    });
    expect(outcomes).toEqual([...Array.from({ length: 25 }, () => failed(LOCKED)), done('z')]);
    const parts = tried.slice(1);
    expect(parts.filter(({ calls }) => calls.includes('z'))).toHaveLength(1);
    const waited = parts.filter(({ calls }) => calls.every(isHeld)).map((part) => part.lockTimeoutMs!);
    expect(waited.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(2_000);
  });

  it('waits longer for one that is only busy, once the others are served', async () => {
    const calls = [...'abcdefghij'];
    const { tried, outcomes } = await served(calls, (call, lockTimeoutMs) => {
      if (call === 'a' || (call === 'b' && (lockTimeoutMs === 2_000 || lockTimeoutMs < 500))) throw LOCKED;
    });
    expect(outcomes).toEqual([failed(LOCKED), ...calls.slice(1).map(done)]);
    expect(tried).toEqual([
      { calls, lockTimeoutMs: undefined },
      ...calls.map((call) => ({ calls: [call], lockTimeoutMs: 100 })),
      { calls: ['a'], lockTimeoutMs: 500 },
      { calls: ['b'], lockTimeoutMs: 500 },
    ]);
  });

  it('with rejected data fails neither calls beside it nor those after one that is locked out', async () => {
    const { outcomes } = await served(['a', 'b', 'c'], (call) => {
      if (call === 'a') throw REJECTED;
      if (call === 'b') throw LOCKED;
    });
    expect(outcomes).toEqual([failed(REJECTED), failed(LOCKED), done('c')]);
  });

  it('waits for locks no longer if a part of it has rejected data as well', async () => {
    const { tried, outcomes } = await served(['a1', 'a2', 'a3', 'b1'], (call, lockTimeoutMs) => {
      if (call === 'a1' && lockTimeoutMs < 2_000) throw REJECTED;
      if (call !== 'b1') throw LOCKED;
    });
    expect(outcomes).toEqual([failed(REJECTED), failed(LOCKED), failed(LOCKED), done('b1')]);
    const waited = tried.filter(({ calls }) => calls.length === 1 && calls[0] !== 'b1');
    expect(waited.reduce((sum, { lockTimeoutMs }) => sum + lockTimeoutMs!, 0)).toBeLessThanOrEqual(2_000);
  });

  it('tries nothing more once the database is unreachable; what was done before stays done', async () => {
    const { tried, outcomes } = await served(['a1', 'b1', 'b2', 'b3', 'c1'], (call, lockTimeoutMs) => {
      if (lockTimeoutMs === 2_000) throw LOCKED;
      if (call === 'b1') throw REJECTED;
      if (call === 'b2') throw UNREACHABLE;
    });
    const outage = failed(UNREACHABLE);
    expect(outcomes).toEqual([done('a1'), failed(REJECTED), outage, outage, outage]);
    expect(tried.at(-1)!.calls).toEqual(['b2']);
  });

  it('is refused as a whole if all of it is locked out by the same', async () => {
    const calls = ['a1', 'a2'];
    await expect(
      served(calls, () => {
        throw LOCKED;
      }),
    ).rejects.toBe(LOCKED);
  });
});

import { describe, expect, it } from '@jest/globals';
import { AdaptiveGroupSize } from './adaptive-group-size.ts';

const tooLong = (): Error => Object.assign(new Error('canceling statement'), { code: '57014' });

/** Work that times out with more rows than this, and the sizes of the groups that it was given. */
function workOf(max: number): { given: number[]; work: (rows: number) => Promise<number> } {
  const given: number[] = [];
  const work = async (rows: number): Promise<number> => {
    given.push(rows);
    if (rows > max) throw tooLong();
    return Promise.resolve(rows);
  };
  return { given, work };
}

describe('The size of a group', () => {
  it('is the maximum while nothing times out', async () => {
    const { given, work } = workOf(100);
    const size = new AdaptiveGroupSize();
    for (let n = 0; n < 20; n += 1) await size.run(100, work);
    expect(new Set(given)).toEqual(new Set([100]));
  });

  it('is halved by each timeout, and the next work begins with the size that succeeded', async () => {
    const { given, work } = workOf(30);
    const size = new AdaptiveGroupSize();
    expect(await size.run(100, work)).toBe(25);
    expect(await size.run(100, work)).toBe(25);
    expect(given).toEqual([100, 50, 25, 25]);
  });

  it('grows again, but seldom beyond what succeeds', async () => {
    const { given, work } = workOf(30);
    const size = new AdaptiveGroupSize();
    for (let n = 0; n < 32; n += 1) await size.run(100, work);
    expect(given.filter((rows) => rows > 30)).toHaveLength(2 + 3);
    const quick = workOf(100);
    for (let n = 0; n < 24; n += 1) await size.run(100, quick.work);
    expect(quick.given.at(-1)).toBe(100);
  });

  it('is not reduced by work with few rows', async () => {
    const { given, work } = workOf(100);
    const size = new AdaptiveGroupSize();
    for (let n = 0; n < 20; n += 1) await size.run(5, work);
    await size.run(100, work);
    expect(given.at(-1)).toBe(100);
  });

  it('is at least one: work that times out with one row fails', async () => {
    const { given, work } = workOf(0);
    await expect(new AdaptiveGroupSize().run(5, work)).rejects.toMatchObject({ code: '57014' });
    expect(given).toEqual([5, 2, 1]);
  });

  it('does not change for other errors', async () => {
    const fault = new Error('no such table');
    await expect(new AdaptiveGroupSize().run(5, () => Promise.reject(fault))).rejects.toBe(fault);
  });
});

import { describe, expect, it } from '@jest/globals';
import { AdaptiveGroupSize } from './adaptive-group-size.ts';

const tooLong = (): Error => Object.assign(new Error('canceling statement'), { code: '57014' });

/** Work that runs out of time with more rows than these, and what it was given. */
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
  it('is the most, while nothing runs out of time', async () => {
    const { given, work } = workOf(100);
    const size = new AdaptiveGroupSize();
    for (let n = 0; n < 20; n += 1) await size.run(100, work);
    expect(new Set(given)).toEqual(new Set([100]));
  });

  it('is halved by each that runs out of time, and the next one begins with what went well', async () => {
    const { given, work } = workOf(30);
    const size = new AdaptiveGroupSize();
    expect(await size.run(100, work)).toBe(25);
    expect(await size.run(100, work)).toBe(25);
    expect(given).toEqual([100, 50, 25, 25]);
  });

  it('grows again, but seldom more than goes well', async () => {
    const { given, work } = workOf(30);
    const size = new AdaptiveGroupSize();
    for (let n = 0; n < 32; n += 1) await size.run(100, work);
    expect(given.filter((rows) => rows > 30)).toHaveLength(2 + 3);
    const quick = workOf(100);
    for (let n = 0; n < 24; n += 1) await size.run(100, quick.work);
    expect(quick.given.at(-1)).toBe(100);
  });

  it('is not held to what little was asked for', async () => {
    const { given, work } = workOf(100);
    const size = new AdaptiveGroupSize();
    for (let n = 0; n < 20; n += 1) await size.run(5, work);
    await size.run(100, work);
    expect(given.at(-1)).toBe(100);
  });

  it('is one at least: who cannot deal with one row fails', async () => {
    const { given, work } = workOf(0);
    await expect(new AdaptiveGroupSize().run(5, work)).rejects.toMatchObject({ code: '57014' });
    expect(given).toEqual([5, 2, 1]);
  });

  it('does not change for another fault', async () => {
    const fault = new Error('no such table');
    await expect(new AdaptiveGroupSize().run(5, () => Promise.reject(fault))).rejects.toBe(fault);
  });
});

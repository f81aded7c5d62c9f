import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LaneDemand, LaneId } from '@posthorn/domain';
import { ReadStarts } from './read-starts.ts';

const FRONT = Number.NEGATIVE_INFINITY;
const [acme, globex] = ['acme', 'globex'] as LaneId[] as [LaneId, LaneId];
let nowMs: number;
let starts: ReadStarts;

beforeEach(() => {
  nowMs = 1_000_000;
  starts = new ReadStarts({ nowMs: () => 9_000_000 }, () => nowMs);
});

function demand(laneId: LaneId): LaneDemand {
  return { laneId, maxRows: 7 };
}

/** Claims rows with these due times of each lane; it takes so long. @returns from where each lane was read */
async function claim(dueSeconds: readonly [LaneId, number[]][], tookMs: number): Promise<number[]> {
  let from: number[] = [];
  await starts.claim(
    dueSeconds.map(([laneId]) => demand(laneId)),
    ([lanes, maxRows, startSeconds]) => {
      expect([lanes, maxRows]).toEqual([dueSeconds.map(([laneId]) => laneId), dueSeconds.map(() => 7)]);
      from = startSeconds;
      nowMs += tookMs;
      return Promise.resolve(
        dueSeconds.flatMap(([laneId, times]) => times.map((time) => ({ laneId, dueSeconds: time }))),
      );
    },
  );
  return from;
}

describe('A claim of lanes', () => {
  it('reads lanes from their fronts as long as that is fast', async () => {
    for (let n = 0; n < 3; n += 1) expect(await claim([[acme, [5_000]]], 20)).toEqual([FRONT]);
  });

  it('returns the rows of the query, and throws what it throws', async () => {
    const rows = [{ laneId: acme, dueSeconds: 1 }];
    expect(await starts.claim([demand(acme)], () => Promise.resolve(rows))).toBe(rows);
    const lost = starts.claim([demand(acme)], () => Promise.reject(new Error('lost')));
    await expect(lost).rejects.toThrow('lost');
  });

  it('reads a lane whose front took long twice from 10 s before its last row, for ten times as long, and follows its rows', async () => {
    await claim([[acme, [5_000, 5_003, 5_001]]], 120);
    expect(await claim([[acme, [5_004, 5_008, 5_006]]], 150)).toEqual([FRONT]);
    expect(await claim([[acme, [5_020]]], 1_000)).toEqual([4_998]);
    expect(await claim([[acme, [5_011]]], 100)).toEqual([5_010]);
    nowMs += 99;
    expect(await claim([[acme, []]], 1)).toEqual([5_010]);
    expect(await claim([[acme, [5_030]]], 110)).toEqual([FRONT]);
    expect(await claim([[acme, []]], 1)).toEqual([5_020]);
  });

  it('reads a lane from its front again after one claim that took long', async () => {
    for (const tookMs of [5_000, 1, 5_000, 1])
      expect(await claim([[acme, [5_000]]], tookMs)).toEqual([FRONT]);
  });

  it('remembers where a slow lane was even if its front shows nothing', async () => {
    await slowTwice(acme);
    nowMs += 1_200;
    expect(await claim([[acme, []]], 120)).toEqual([FRONT]);
    expect(await claim([[acme, []]], 120)).toEqual([4_990]);
  });

  it('keeps the start of a lane whose front cannot be read in time', async () => {
    await slowTwice(acme);
    nowMs += 1_200;
    const outOfTime = starts.claim([demand(acme)], () => {
      nowMs += 5_000;
      return Promise.reject(new Error('out of time'));
    });
    await expect(outOfTime).rejects.toThrow('out of time');
    expect(await claim([[acme, [5_001]]], 1)).toEqual([4_990]);
  });

  it('returns to the front for good once that is fast again', async () => {
    await slowTwice(acme);
    nowMs += 1_200;
    expect(await claim([[acme, [5_001]]], 1)).toEqual([FRONT]);
    expect(await claim([[acme, [5_002]]], 120)).toEqual([FRONT]);
    expect(await claim([[acme, [5_002]]], 1)).toEqual([FRONT]);
  });

  it('judges each lane by the claims from its own front', async () => {
    await slowTwice(acme);
    const both: [LaneId, number[]][] = [
      [acme, [5_001]],
      [globex, [6_000]],
    ];
    expect(await claim(both, 120)).toEqual([4_990, FRONT]);
    expect(await claim(both, 120)).toEqual([4_991, FRONT]);
    nowMs += 1_200 - 240;
    expect(await claim(both, 1)).toEqual([FRONT, 5_990]);
  });

  it('does not begin where nothing was ever claimed', async () => {
    for (let n = 0; n < 3; n += 1) expect(await claim([[acme, []]], 120)).toEqual([FRONT]);
  });

  it('forgets all lanes rather than remember more than ten thousand', async () => {
    await slowTwice(acme);
    for (let n = 1; n < 10_000; n += 1) await claim([[`lane${n}` as LaneId, [5_000]]], 101);
    nowMs -= 101 * 10_000;
    expect(await claim([[acme, []]], 1)).toEqual([4_990]);
    await claim([[globex, [5_000]]], 120);
    expect(await claim([[acme, []]], 1)).toEqual([FRONT]);
  });
});

describe('A look at all lanes', () => {
  const look = async (tookMs: number, readSeconds?: number) => {
    let from: number | undefined;
    const looked = starts.look((startSeconds) => {
      from = startSeconds;
      nowMs += tookMs;
      return readSeconds === undefined
        ? Promise.reject(new Error('out of time'))
        : Promise.resolve({ readSeconds });
    });
    if (readSeconds === undefined) await expect(looked).rejects.toThrow('out of time');
    else expect(await looked).toEqual({ readSeconds });
    return from;
  };

  it('begins 10 s before where the last one ended after two in a row that took long', async () => {
    expect([await look(120, 5_000), await look(130, 5_001), await look(1, 5_002)]).toEqual([
      FRONT,
      FRONT,
      4_991,
    ]);
    expect(await look(1, 5_003)).toBe(4_992);
    nowMs += 1_200;
    expect([await look(1, 5_004), await look(1, 5_005)]).toEqual([FRONT, FRONT]);
  });

  it('begins ten minutes ago if the front was never read in time', async () => {
    expect([await look(5_000), await look(5_000), await look(1, 9_000)]).toEqual([FRONT, FRONT, 8_400]);
    expect(await look(1, 9_001)).toBe(8_990);
  });
});

/** Claims a row that is due at 5,000 s twice, each time in 120 ms. */
async function slowTwice(laneId: LaneId): Promise<void> {
  await claim([[laneId, [5_000]]], 120);
  await claim([[laneId, [5_000]]], 120);
}

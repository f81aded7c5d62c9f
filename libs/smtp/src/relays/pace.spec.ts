import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Pace } from './pace.ts';

async function elapsed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

describe('a pace', () => {
  it('allows so many per second, in the order of requests', async () => {
    const pace = new Pace(50);
    const order: number[] = [];
    const took = await elapsed(() =>
      Promise.all(Array.from({ length: 11 }, (_, n) => pace.turn().then(() => order.push(n)))),
    );
    expect(took).toBeGreaterThanOrEqual(195);
    expect(order).toEqual([...Array(11).keys()]);
  });

  it('does not accumulate unused turns', async () => {
    const pace = new Pace(50);
    await pace.turn();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await elapsed(() => Promise.all([pace.turn(), pace.turn(), pace.turn()]))).toBeGreaterThanOrEqual(
      38,
    );
  });

  it('of 0 never waits; one of thousands is met on average', async () => {
    let isOver = false;
    const quick = new Pace(0);
    void Promise.all(Array.from({ length: 1_000 }, () => quick.turn())).then(() => (isOver = true));
    // No timer can have come.
    await nextTurn();
    expect(isOver).toBe(true);
    const pace = new Pace(2_000);
    expect(
      await elapsed(() => Promise.all(Array.from({ length: 401 }, () => pace.turn()))),
    ).toBeGreaterThanOrEqual(195);
  });

  it.each([0, 500])(
    'of %i adapts to a relay that gets emails too fast, and says when that begins and ends',
    async (max) => {
      const said: boolean[] = [];
      let nowMs = 0;
      const pace = new Pace(
        max,
        (isLowered) => said.push(isLowered),
        () => nowMs,
      );
      const answer = (isTooFast: boolean, everyMs: number, count: number): void => {
        for (let n = 0; n < count; n += 1) {
          nowMs += everyMs;
          pace.noteAnswer(isTooFast);
        }
      };
      answer(false, 10, 500);
      expect(said).toEqual([]);
      answer(true, 50, 100);
      expect(said).toEqual([true]);
      await pace.turn();
      // The next one waits, at the lowered rate.
      const second = pace.turn().then(() => 'begun');
      expect(await Promise.race([second, nextTurn('waits')])).toBe('waits');
      answer(false, 10, 20_000);
      expect(said).toEqual([true, false]);
      pace.stop();
    },
  );

  it('resolves all waiting turns when it is stopped, and later ones at once', async () => {
    const pace = new Pace(1);
    const all = Array.from({ length: 20 }, () => pace.turn());
    pace.stop();
    const over = Promise.all([...all, pace.turn()]).then(() => 'over');
    expect(await Promise.race([over, nextTurn('waits')])).toBe('over');
  });
});

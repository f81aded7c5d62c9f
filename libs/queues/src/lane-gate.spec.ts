import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LaneId } from '@posthorn/domain';
import { LaneGate } from './lane-gate.ts';

const [BIG, SMALL] = ['big.bulk', 'small.bulk'] as LaneId[];

/** Tasks that run until the test ends them, by name, in the order in which they were admitted. */
function holdable(gate: LaneGate): {
  readonly begun: string[];
  hold(laneId: LaneId, name: string): Promise<string>;
  end(name: string): Promise<void>;
} {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    hold: (laneId, name) =>
      gate.pass(laneId, async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.set(name, end));
        return name;
      }),
    end: async (name) => {
      ends.get(name)!();
      await nextTurn();
    },
  };
}

describe('LaneGate', () => {
  it('runs a limited number of tasks at once, and returns the result of each', async () => {
    const works = holdable(new LaneGate(2));
    const all = ['a', 'b', 'c'].map((name) => works.hold(BIG!, name));
    await nextTurn();
    expect(works.begun).toEqual(['a', 'b']);
    await works.end('b');
    expect(works.begun).toEqual(['a', 'b', 'c']);
    await works.end('a');
    await works.end('c');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });

  it('admits lanes in turn, however many tasks of one lane came first', async () => {
    const works = holdable(new LaneGate(1));
    for (const name of ['a', 'b', 'c', 'd']) void works.hold(BIG!, name);
    void works.hold(SMALL!, 'other');
    await nextTurn();
    for (const name of ['a', 'other', 'b']) await works.end(name);
    expect(works.begun).toEqual(['a', 'other', 'b', 'c']);
  });

  it('keeps a tenth of many places free for other lanes: a slow relay may take long to answer a backlog', async () => {
    const works = holdable(new LaneGate(20));
    void works.hold(SMALL!, 'before');
    await nextTurn();
    const backlog = Array.from({ length: 30 }, (_, n) => `a${n}`);
    for (const name of backlog) void works.hold(BIG!, name);
    await works.end('before');
    expect(works.begun.splice(0)).toEqual(['before', ...backlog.slice(0, 18)]);
    for (const name of ['lone', 'second']) void works.hold(SMALL!, name);
    await nextTurn();
    expect(works.begun).toEqual(['lone', 'second']);
    await works.end('a0');
    expect(works.begun).toHaveLength(2);
    await works.end('lone');
    await works.end('second');
    expect(works.begun).toEqual(['lone', 'second', 'a18']);
  });

  it('admits the next task when one fails', async () => {
    const gate = new LaneGate(1);
    await expect(gate.pass(BIG!, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await gate.pass(BIG!, () => Promise.resolve('yes'))).toBe('yes');
  });

  it('admits one task at each turn, of the lane whose turn it is when that comes', async () => {
    const comers: (() => void)[] = [];
    const works = holdable(new LaneGate(5, () => new Promise((come) => comers.push(come))));
    const come = async (): Promise<void> => {
      comers.shift()!();
      await nextTurn();
    };
    for (const name of ['a', 'b', 'c']) void works.hold(BIG!, name);
    await come();
    void works.hold(SMALL!, 'late');
    await come();
    await come();
    expect(works.begun).toEqual(['a', 'b', 'late']);
    expect(comers).toHaveLength(1);
  });

  it('admits all tasks once it is open', async () => {
    const gate = new LaneGate(1);
    const works = holdable(gate);
    for (const name of ['a', 'b']) void works.hold(BIG!, name);
    await nextTurn();
    gate.open();
    await nextTurn();
    void works.hold(BIG!, 'c');
    expect(works.begun).toEqual(['a', 'b', 'c']);
  });
});

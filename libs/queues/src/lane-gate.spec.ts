import { describe, expect, it } from '@jest/globals';
import type { LaneId } from '@posthorn/domain';
import { LaneGate } from './lane-gate.ts';

const [BIG, SMALL] = ['big.bulk', 'small.bulk'] as LaneId[];

/** Works that go on until they are told to end, by name, in the order in which they were let in. */
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
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe('LaneGate', () => {
  it('lets so many in at once, and gives back what each made', async () => {
    const works = holdable(new LaneGate(2));
    const all = ['a', 'b', 'c'].map((name) => works.hold(BIG!, name));
    expect(works.begun).toEqual(['a', 'b']);
    await works.end('b');
    expect(works.begun).toEqual(['a', 'b', 'c']);
    await works.end('a');
    await works.end('c');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });

  it('lets lanes in in turn, however many of one of them came before', async () => {
    const works = holdable(new LaneGate(1));
    for (const name of ['a', 'b', 'c', 'd']) void works.hold(BIG!, name);
    void works.hold(SMALL!, 'other');
    for (const name of ['a', 'b', 'other']) await works.end(name);
    expect(works.begun).toEqual(['a', 'b', 'other', 'c']);
  });

  it('gives the place on when a work fails', async () => {
    const gate = new LaneGate(1);
    await expect(gate.pass(BIG!, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await gate.pass(BIG!, () => Promise.resolve('yes'))).toBe('yes');
  });

  it('lets everybody in once it is open', async () => {
    const gate = new LaneGate(1);
    const works = holdable(gate);
    for (const name of ['a', 'b']) void works.hold(BIG!, name);
    gate.open();
    await works.end('a');
    void works.hold(BIG!, 'c');
    expect(works.begun).toEqual(['a', 'b', 'c']);
  });
});

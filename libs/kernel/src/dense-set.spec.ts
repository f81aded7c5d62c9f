import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DenseSet, type DenseSetMember } from './dense-set.ts';

interface Numbered extends DenseSetMember {
  readonly number: number;
}

const numbered = (number: number): Numbered => ({ number, position: undefined });

describe('DenseSet', () => {
  it('holds what a Set would hold, whatever is added and deleted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 9 })), (changes) => {
        const objects = Array.from({ length: 10 }, (_, number) => numbered(number));
        const [set, model] = [new DenseSet<Numbered>(), new Set<Numbered>()];
        for (const number of changes) {
          const object = objects[number]!;
          if (model.has(object)) {
            expect(set.delete(object)).toBe(model.delete(object));
          } else {
            expect(set.delete(object)).toBe(false);
            set.add(object);
            model.add(object);
          }
          expect(set.size).toBe(model.size);
          expect(new Set(set.values())).toEqual(model);
        }
      }),
    );
  });

  it('knows nothing of an object that is in another', () => {
    const [one, other] = [new DenseSet<Numbered>(), new DenseSet<Numbered>()];
    const [first, second] = [numbered(1), numbered(2)];
    one.add(first);
    other.add(second);
    expect(one.delete(second)).toBe(false);
    expect(other.delete(second)).toBe(true);
    expect(one.values()).toEqual([first]);
  });

  it('gives values that may be deleted while they are gone through', () => {
    const set = new DenseSet<Numbered>();
    for (const number of [1, 2, 3, 4]) set.add(numbered(number));
    for (const member of set.values()) set.delete(member);
    expect(set.size).toBe(0);
  });
});

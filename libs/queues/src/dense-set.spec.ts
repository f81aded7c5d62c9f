import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DenseSet, type DenseSetMember } from './dense-set.ts';

interface Numbered extends DenseSetMember {
  readonly number: number;
}

const numbered = (number: number): Numbered => ({ number, position: undefined });

describe('DenseSet', () => {
  it('contains the same as a Set, whatever is added and deleted', () => {
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

  it('does not contain the members of another set', () => {
    const [one, other] = [new DenseSet<Numbered>(), new DenseSet<Numbered>()];
    const [first, second] = [numbered(1), numbered(2)];
    one.add(first);
    other.add(second);
    expect(one.delete(second)).toBe(false);
    expect(other.delete(second)).toBe(true);
    expect(one.values()).toEqual([first]);
  });

  it('returns values that may be deleted during the iteration', () => {
    const set = new DenseSet<Numbered>();
    for (const number of [1, 2, 3, 4]) set.add(numbered(number));
    for (const member of set.values()) set.delete(member);
    expect(set.size).toBe(0);
  });
});

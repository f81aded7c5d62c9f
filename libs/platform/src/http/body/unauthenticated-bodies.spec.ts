import { beforeEach, describe, expect, it } from '@jest/globals';
import { UnauthenticatedBodies } from './unauthenticated-bodies.ts';

let bodies: UnauthenticatedBodies;
let givenUp: string[];
beforeEach(() => {
  bodies = new UnauthenticatedBodies(100);
  givenUp = [];
});

/** Gives up a body of this name. */
const body = (name: string) => (): void => void givenUp.push(name);

describe('Bodies of callers who are not authenticated yet', () => {
  it('are given up, the oldest first, when they hold too many bytes together', () => {
    const [first, second, third] = [body('first'), body('second'), body('third')];
    bodies.note(first, 60);
    bodies.note(second, 40);
    expect(givenUp).toEqual([]);
    bodies.note(third, 41);
    expect(givenUp).toEqual(['first']);
    bodies.note(second, 100);
    expect(givenUp).toEqual(['first', 'second']);
  });

  it('count with the bytes that they hold, in however many pieces these arrive', () => {
    const slow = body('slow');
    for (let bytes = 1; bytes <= 50; bytes += 1) bodies.note(slow, bytes);
    bodies.note(body('other'), 50);
    expect(givenUp).toEqual([]);
  });

  it('do not count any more when they are complete, or their connection is closed', () => {
    for (let n = 0; n < 100; n += 1) {
      const complete = body(`complete ${n}`);
      for (const bytes of [10, 20, 90]) bodies.note(complete, bytes);
      bodies.forget(complete);
      bodies.forget(complete);
    }
    bodies.note(body('one'), 50);
    bodies.note(body('other'), 50);
    expect(givenUp).toEqual([]);
  });

  it('include one that is larger than all may be, as long as it is the only one', () => {
    const large = body('large');
    bodies.note(large, 1_000);
    expect(givenUp).toEqual([]);
    bodies.note(body('small'), 1);
    expect(givenUp).toEqual(['large']);
  });
});

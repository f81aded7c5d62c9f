import { expect, it } from '@jest/globals';
import { newUuid } from '@posthorn/kernel';
import fc from 'fast-check';
import { feedPositionText, furtherPosition, LEAST_ID, parseFeedPosition } from './feed-position.ts';

const POSITIONS = fc.record({
  era: fc.nat({ max: 999_999_999 }),
  xid: fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }),
  id: fc.uuid(),
  atMs: fc.nat({ max: 99_999_999_999_999 }),
});

it('a place in the feed goes there and back', () => {
  fc.assert(
    fc.property(POSITIONS, (position) =>
      expect(parseFeedPosition(feedPositionText(position))).toEqual(position),
    ),
  );
});

it('what is no place in the feed is known', () => {
  const sound = feedPositionText({ era: 1, xid: 2n, id: newUuid(0), atMs: 3 });
  for (const text of [
    '',
    'x',
    '1-2-3',
    sound.slice(1),
    `${sound}0`,
    sound.replace('1-', '-1-'),
    sound.toUpperCase(),
  ])
    expect([text, parseFeedPosition(text)]).toEqual([text, undefined]);
});

it('a place is further on by its era, then by its transaction, then by its id', () => {
  const inOrder = [
    { era: 1, xid: 9n, id: LEAST_ID, atMs: 9 },
    { era: 2, xid: 1n, id: LEAST_ID, atMs: 1 },
    { era: 2, xid: 10n, id: LEAST_ID, atMs: 1 },
    { era: 2, xid: 10n, id: newUuid(0), atMs: 1 },
  ];
  for (const [place, one] of inOrder.entries()) {
    for (const other of inOrder.slice(place)) {
      expect(furtherPosition(one, other)).toBe(other);
      expect(furtherPosition(other, one)).toBe(other === one ? one : other);
    }
  }
});

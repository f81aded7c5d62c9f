import { expect, it } from '@jest/globals';
import { newUuid } from '@posthorn/kernel';
import fc from 'fast-check';
import { feedPositionText, parseFeedPosition } from './feed-position.ts';

const POSITIONS = fc.record({
  era: fc.nat({ max: 999_999_999 }),
  xid: fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }),
  id: fc.uuid(),
  atMs: fc.nat({ max: 99_999_999_999_999 }),
});

it('a position in the feed survives formatting and parsing', () => {
  fc.assert(
    fc.property(POSITIONS, (position) =>
      expect(parseFeedPosition(feedPositionText(position))).toEqual(position),
    ),
  );
});

it('a malformed position in the feed is recognised', () => {
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

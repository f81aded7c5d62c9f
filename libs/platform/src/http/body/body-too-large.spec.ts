import { expect, it } from '@jest/globals';
import { bodyTooLarge } from './body-too-large.ts';

const MEND = 'allowed here; make it smaller, or spread it over several requests';

it.each([
  [10_485_760, 11_534_336, 'has 11,534,336 bytes, 1,048,576 more than the 10 MiB (10,485,760 bytes)'],
  [52_428_800, undefined, 'is larger than the 50 MiB (52,428,800 bytes)'],
  [1_536, undefined, 'is larger than the 1,536 bytes'],
  [2_048, 2_049, 'has 2,049 bytes, 1 more than the 2 KiB (2,048 bytes)'],
  [1_000, 1_001, 'has 1,001 bytes, 1 more than the 1,000 bytes'],
])(
  'G2, G11: the refusal of a body above %i bytes names the limit, and says what to do',
  (max, announced, says) => {
    const { statusCode, message } = bodyTooLarge(max, announced);
    expect([statusCode, message]).toEqual([413, `The body ${says} ${MEND}`]);
  },
);

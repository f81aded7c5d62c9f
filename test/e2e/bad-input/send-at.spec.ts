import { describe, it } from '@jest/globals';
import { DAY_MS, fromNow, MINUTE_MS } from '../times.ts';
import { type Case, casesOf, inBatch, inRawEmail, NON_STRINGS, texts } from './cases.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

/** These times are computed long before they are sent, and must still be too far ahead then. */
const HOUR_MS = 60 * MINUTE_MS;

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

/** Values that are not valid times, one for each way to be wrong; the tests of `parseSendAt` have the others. */
const INVALID_TIMES = [
  ...texts('', 'tomorrow', '1900000000', '2030-01-31', '2030-01-31T09:30:00', '2030-02-30T09:30:00Z'),
  ...texts(
    '2030-01-31T24:00:00Z',
    '2030-01-31T09:30:00+24:00',
    '2030-01-31T09:30:00Z\n',
    '2'.repeat(100_000),
  ),
  ...NON_STRINGS,
];

describe('S10: invalid times', () => {
  it.each(titled(casesOf(INVALID_TIMES, [inRawEmail('sendAt'), inBatch(inRawEmail('sendAt'))])))(
    '%s',
    refuses,
  );
});

describe('S10: a time that is out of reach', () => {
  const beyond = [
    ...texts(
      '9999-12-31T23:59:59Z',
      '9999-12-31T23:59:59-23:59',
      fromNow(90 * DAY_MS + HOUR_MS),
      fromNow(366 * DAY_MS),
    ),
  ].map((fault) => ({ ...fault, says: /`sendAt` is \d+ days ahead; at most 90 are allowed/ }));
  const past = texts(
    '0001-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '0000-01-01T00:00:00+23:59',
    '1969-12-31T23:59:59.999Z',
    '1970-01-01T00:00:00Z',
    '2020-02-29T00:00:00Z',
    fromNow(-6 * MINUTE_MS),
    fromNow(-60 * MINUTE_MS),
  ).map((fault) => ({ ...fault, says: /`sendAt` is \d+ (days|minutes) in the past; give a future time/ }));
  it.each(titled(casesOf([...beyond, ...past], [inRawEmail('sendAt'), inBatch(inRawEmail('sendAt'))])))(
    '%s',
    refuses,
  );
});

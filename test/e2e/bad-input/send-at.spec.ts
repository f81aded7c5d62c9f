import { describe, it } from '@jest/globals';
import { DAY_MS, fromNow, MINUTE_MS } from '../times.ts';
import { type Case, casesOf, inBatch, inRawEmail, NON_STRINGS, texts } from './cases.ts';
import { atLeastForty, RefusingStack, titled } from './refusing-stack.ts';

/** These times are computed long before they are sent, and must still be too far ahead then. */
const HOUR_MS = 60 * MINUTE_MS;

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);

/** Values that are not valid times. */
const INVALID_TIMES = [
  ...texts('', ' ', 'now', 'tomorrow', 'null', '0', '1900000000', '1900000000000', 'P1D', '+5 minutes'),
  ...texts('2030-01-31', '2030-01-31T09:30:00', '2030-01-31T09:30', '09:30Z', 'T09:30:00Z', '2030-01-31Z'),
  ...texts('2030-01-31 09:30:00Z', '2030-01-31_09:30:00Z', '2030-01-31T09:30:00 Z', '20300131T093000Z'),
  ...texts('2030-W05-4T09:30:00Z', '2030-031T09:30:00Z', '2030-1-31T09:30:00Z', '30-01-31T09:30:00Z'),
  ...texts('2030-02-30T09:30:00Z', '2031-02-29T09:30:00Z', '2030-04-31T09:30:00Z', '2030-13-01T09:30:00Z'),
  ...texts('2030-00-01T09:30:00Z', '2030-01-00T09:30:00Z', '2030-01-32T09:30:00Z', '0000-00-00T00:00:00Z'),
  ...texts('2030-01-31T24:00:00Z', '2030-01-31T09:60:00Z', '2030-01-31T09:30:60Z', '2030-01-31T9:30:00Z'),
  ...texts('2030-01-31T09:30:00+2400', '2030-01-31T09:30:00+24:00', '2030-01-31T09:30:00+01:60'),
  ...texts(
    '2030-01-31T09:30:00+1',
    '2030-01-31T09:30:00+010',
    '2030-01-31T09:30:00 CET',
    '2030-01-31T09:30:00z+01:00',
  ),
  ...texts('2030-01-31T09:30:00.Z', '2030-01-31T09:30:00,Z', `2030-01-31T09:30:00.${'1'.repeat(10)}Z`),
  ...texts(
    '+002030-01-31T09:30:00Z',
    '-2030-01-31T09:30:00Z',
    '12030-01-31T09:30:00Z',
    '2030-01-31T09:30:00−01:00',
  ),
  ...texts(
    ' 2030-01-31T09:30:00Z',
    '2030-01-31T09:30:00Z ',
    '2030-01-31T09:30:00Z\n',
    '\u200b2030-01-31T09:30:00Z',
  ),
  ...texts(
    '２０３０-01-31T09:30:00Z',
    '2030-01-31T09:30:00Ż',
    'Fri, 31 Jan 2030 09:30:00 GMT',
    '01/31/2030 09:30',
  ),
  ...texts('2030-01-31T09:30:00[Europe/Berlin]', '2030-01-31T09:30:00Z/PT1H', '2'.repeat(100_000)),
  ...texts('2030-01-31T09:30:00Z; DROP TABLE emails', '2030-01-31T09:30:00Z2030-01-31T09:30:00Z'),
  ...NON_STRINGS,
];

describe('S10: invalid times', () => {
  it.each(atLeastForty(casesOf(INVALID_TIMES, [inRawEmail('sendAt'), inBatch(inRawEmail('sendAt'))])))(
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
  ].map((fault) => ({ ...fault, says: /`sendAt` is \d+ days ahead; at most 90 are possible/ }));
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

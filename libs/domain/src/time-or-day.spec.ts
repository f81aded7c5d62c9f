import { describe, expect, it } from '@jest/globals';
import { parseTimeOrDay } from './time-or-day.ts';

describe('parseTimeOrDay', () => {
  it('parses a time with its offset', () => {
    const atMs = Date.UTC(2030, 0, 31, 8, 30);
    expect(parseTimeOrDay('2030-01-31T09:30:00+01:00')).toEqual({ atMs, isDay: false });
  });

  it('parses a day as its start in UTC', () => {
    expect(parseTimeOrDay('2030-01-31')).toEqual({ atMs: Date.UTC(2030, 0, 31), isDay: true });
  });

  it.each([
    ['2030-02-30', /^has the date 2030-02-30, which does not exist; give a real date$/],
    ['2030-01-31T25:00Z', /^has the time 25:00, which does not exist/],
    ['2030-01-31T09:30', /^has no offset, .* add one, such as `\+02:00`, or `Z` for UTC$/],
    ['2030-01', /^is not a time; give a day, as in `2030-01-31`, or a date/],
    ['2030-1-1', /^is not a time/],
    ['yesterday', /^is not a time/],
    ['', /^is not a time/],
    ['2030-01-31\n', /^is not a time/],
  ])('refuses %j', (text, fault) => {
    expect(parseTimeOrDay(text)).toEqual({ fault: expect.stringMatching(fault) });
  });
});

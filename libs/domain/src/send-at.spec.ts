import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseSendAt, parseTimestamp } from './send-at.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');
const DAY_MS = 86_400_000;

function faultOf(text: string): string {
  const parsed = parseSendAt(text, NOW);
  return 'fault' in parsed ? parsed.fault : `taken as ${parsed.at?.toISOString() ?? 'now'}`;
}

describe('S10: parseSendAt', () => {
  it.each([
    ['2026-11-21T10:00:00.001Z', '2026-11-21T10:00:00.001Z'],
    ['2026-12-01T10:00:00Z', '2026-12-01T10:00:00.000Z'],
    ['2026-12-01T10:00Z', '2026-12-01T10:00:00.000Z'],
    ['2026-12-01t10:00:00z', '2026-12-01T10:00:00.000Z'],
    ['2026-12-01T10:00:00.5Z', '2026-12-01T10:00:00.500Z'],
    ['2026-12-01T10:00:00.123456789Z', '2026-12-01T10:00:00.123Z'],
    ['2026-12-01T10:00:00+05:30', '2026-12-01T04:30:00.000Z'],
    ['2026-12-01T10:00:00-08:00', '2026-12-01T18:00:00.000Z'],
    ['2026-12-01T10:00:00-00:00', '2026-12-01T10:00:00.000Z'],
    ['2026-11-30T23:59:59-23:59', '2026-12-01T23:58:59.000Z'],
    ['2027-02-19T10:00:00Z', '2027-02-19T10:00:00.000Z'],
  ])('parses %s', (text, at) => {
    expect(parseSendAt(text, NOW)).toEqual({ at: new Date(at) });
  });

  it.each([
    '2026-11-21T10:00:00Z',
    '2026-11-21T09:59:59.999Z',
    '2026-11-21T09:55:00Z',
    '2026-11-21T11:55:00+02:00',
  ])('sends %s, not more than 5 minutes ago, now', (text) => {
    expect(parseSendAt(text, NOW)).toEqual({ at: undefined });
  });

  it.each([
    ['2026-11-21T09:54:59.999Z', 'is 6 minutes in the past; give a future time, or leave it out to send now'],
    [
      '2026-11-21T08:00:00.001Z',
      'is 120 minutes in the past; give a future time, or leave it out to send now',
    ],
    ['2026-11-20T09:59:00Z', 'is 24 hours in the past; give a future time, or leave it out to send now'],
    ['2026-11-19T10:00:00.001Z', 'is 47 hours in the past; give a future time, or leave it out to send now'],
    ['2025-11-21T10:00:00Z', 'is 365 days in the past; give a future time, or leave it out to send now'],
    ['2027-02-19T10:00:00.001Z', 'is 91 days ahead; at most 90 are allowed'],
    ['2027-02-26T10:00:00Z', 'is 97 days ahead; at most 90 are allowed'],
  ])('refuses %s for its distance', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });

  it.each([
    ...[
      '',
      ' ',
      'now',
      'tomorrow',
      '1795255200',
      '2026-12-01',
      '2026-12-01T10:00:00',
      '10:00:00Z',
      'T10:00:00Z',
    ],
    ...[
      '2026-12-01 10:00:00Z',
      ' 2026-12-01T10:00:00Z',
      '2026-12-01T10:00:00Z ',
      '2026-12-01T10:00:00Z\n',
      '2026-12-01T10Z',
    ],
    ...['2026-W01-1', '2026-W01-1T10:00:00Z', '2026-335T10:00:00Z', '20261201T100000Z', '26-12-01T10:00:00Z'],
    ...['+002026-12-01T10:00:00Z', '-2026-12-01T10:00:00Z', '2026-12-01T10:00:00.Z'],
    ...['2026-12-01T10:00:00.1234567890Z', '2026-12-01T10:00:00ZZ'],
    ...[
      '2026-12-01T10:00:00 Z',
      '2026-12-01T10:00:00CET',
      '2026-12-01T1:00:00Z',
      '2026-12-01T10:00:00+24:00',
    ],
    ...[
      '2026-12-01T10:00:00+05:60',
      '2026-12-01T10:00:00−05:00',
      '２026-12-01T10:00:00Z',
      'Tue, 01 Dec 2026 10:00:00 GMT',
    ],
  ])('refuses %j, which is not a time with an offset', (text) => {
    expect(faultOf(text)).toMatch(/^(is not a time;|has an offset that|has no offset,)/);
  });

  it.each([
    '2026-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-13-01',
    '2026-00-10',
    '2026-12-00',
    '2026-12-32',
    '1900-02-29',
  ])('refuses %s, which does not exist, instead of rolling it over', (date) => {
    expect(faultOf(`${date}T10:00:00Z`)).toBe(`has the date ${date}, which does not exist; give a real date`);
  });

  it.each(['24:00:00', '25:00:00', '10:60:00', '23:59:60', '10:00:61', '99:99:99'])(
    'refuses the time %s',
    (time) => {
      expect(faultOf(`2026-12-01T${time}Z`)).toMatch(
        new RegExp(`^has the time ${time}, which does not exist`),
      );
      expect(faultOf(`2026-12-01T${time}-05:00`)).toMatch(
        new RegExp(`^has the time ${time}, which does not exist`),
      );
    },
  );

  it.each([
    ['2026-12-01T10:00Z', '2026-12-01T10:00:00Z'],
    ['2026-12-01T10:00:00,5Z', '2026-12-01T10:00:00.5Z'],
    ['2026-12-01T10:00:00+05', '2026-12-01T10:00:00+05:00'],
    ['2026-12-01T10:00:00-0530', '2026-12-01T10:00:00-05:30'],
    ['2026-12-01t10:00:00z', '2026-12-01T10:00:00Z'],
  ])('S10: reads %s, which ISO 8601 allows, as %s', (text, plain) => {
    expect(parseTimestamp(text)).toEqual({ atMs: Date.parse(plain) });
  });

  it('parses every time that JavaScript prints, and leap days', () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('0000-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59Z'),
          noInvalidDate: true,
        }),
        (date) => {
          expect(parseTimestamp(date.toISOString())).toEqual({ atMs: date.getTime() });
        },
      ),
    );
    expect(parseTimestamp('2028-02-29T00:00:00Z')).toEqual({ atMs: Date.parse('2028-02-29T00:00:00Z') });
  });

  it('returns a time only between now and the horizon, to the millisecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100 * DAY_MS, max: 100 * DAY_MS }), (aheadMs) => {
        const parsed = parseSendAt(new Date(NOW + aheadMs).toISOString(), NOW);
        const expected =
          aheadMs < -300_000 || aheadMs > 90 * DAY_MS ? 'fault' : aheadMs > 0 ? NOW + aheadMs : undefined;
        expect('fault' in parsed ? 'fault' : parsed.at?.getTime()).toBe(expected);
      }),
    );
  });
});

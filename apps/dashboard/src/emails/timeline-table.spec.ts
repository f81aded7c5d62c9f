import { expect, it } from '@jest/globals';
import { MAX_TIMELINE_ENTRIES, type EmailRecord } from '@posthorn/database';
import { timelineTable } from './timeline-table.ts';

const MOVED = {
  kind: 'RESCHEDULED',
  at: new Date(0),
  late: false,
  duplicatePossible: false,
  report: null,
  detail: {},
};

const tableOf = (entries: number): string => {
  const timeline = Array.from({ length: entries }, () => MOVED);
  return timelineTable({ acceptedAt: new Date(0), sendAt: null, timeline } as unknown as EmailRecord).text;
};

it('A timeline says that only its newest entries are shown, if there can be more', () => {
  expect(tableOf(MAX_TIMELINE_ENTRIES)).toContain('the newest 500 entries are shown');
  expect(tableOf(MAX_TIMELINE_ENTRIES - 1)).not.toContain('are shown');
});

it.each([
  ['CANCELLED', 'may have arrived<'],
  ['FAILED', 'may have arrived<'],
  ['RESCHEDULED', 'may have arrived more than once<'],
])('A timeline says of a doubtful %s that it %s', (kind, remark) => {
  const timeline = [{ ...MOVED, kind, duplicatePossible: true }];
  const record = { acceptedAt: new Date(0), sendAt: null, timeline } as unknown as EmailRecord;
  expect(timelineTable(record).text).toContain(remark);
});

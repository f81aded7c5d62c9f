import { describe, expect, it } from '@jest/globals';
import { delayText } from './migration-delay.mjs';

const holder = { pid: 7, role: 'ada', applicationName: 'backup' };
const holderText = (change: Partial<typeof holder>): string =>
  delayText({ migration: 'first_laid', seconds: 5.2, holders: [{ ...holder, ...change }], index: undefined });

describe('The text about a migration that waits', () => {
  it.each([
    ['a session', {}, 'pid 7 (backup, role ada)'],
    ['one without a name', { applicationName: '' }, 'pid 7 (without an application name, role ada)'],
    [
      'a vacuum to prevent wraparound, which has no role and does not yield',
      { role: '', applicationName: '' },
      'pid 7 (a process of Postgres itself, such as autovacuum)',
    ],
  ])('names %s', (_, change, name) => {
    expect(holderText(change)).toBe(
      `first_laid has waited for 5 s for ${name}, which has locked what it changes`,
    );
  });

  it.each([
    [null, 'initializing'],
    [40, 'building index: scanning table, 40 %'],
  ])('says how far an index is: %s', (percent, how) => {
    const index = { table: 'emails_2026_11', phase: how.split(', 4')[0]!, percent };
    const delay = { migration: 'first_indexed', seconds: 12, index };
    expect(delayText({ ...delay, holders: [] })).toBe(
      `first_indexed has been under way for 12 s: index of emails_2026_11, ${how}`,
    );
    expect(delayText({ ...delay, holders: [holder] })).toBe(
      `first_indexed has waited for 12 s for pid 7 (backup, role ada), which began before and must end first: index of emails_2026_11, ${how}`,
    );
  });
});

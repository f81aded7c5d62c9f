import { describe, expect, it } from '@jest/globals';
import { delayText } from './migration-delay.mjs';

const holder = { pid: 7, role: 'ada', applicationName: 'backup' };
const holderText = (change: Partial<typeof holder>): string =>
  delayText({ migration: 'first_laid', seconds: 5.2, holders: [{ ...holder, ...change }] });

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
});

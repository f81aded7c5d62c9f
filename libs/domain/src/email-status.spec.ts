import { describe, expect, it } from '@jest/globals';
import { EMAIL_STATUSES, isEmailStatus } from './email-status.ts';

describe('S8: a status', () => {
  it('is known by its exact name', () => {
    expect(Object.keys(EMAIL_STATUSES).every(isEmailStatus)).toBe(true);
    expect(['', 'sent', 'QUEUED', 'toString', '__proto__'].some(isEmailStatus)).toBe(false);
  });
});

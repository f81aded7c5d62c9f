import { describe, expect, it } from '@jest/globals';
import { Refusal } from '@posthorn/kernel';
import { refusalOf } from './refusal-of.ts';

describe('The refusal that callers get for an error', () => {
  it('is to retry while the database is unavailable', () => {
    const away = Object.assign(new Error('connect ECONNREFUSED db.internal:5432'), { code: 'ECONNREFUSED' });
    expect(refusalOf(away)).toMatchObject({ statusCode: 503, details: { retryAfterSeconds: 2 } });
  });

  it('is to retry after a deadlock, which changed nothing', () => {
    const victim = Object.assign(new Error('deadlock detected'), { code: '40P01' });
    expect(refusalOf(victim)).toMatchObject({ statusCode: 503, details: { retryAfterSeconds: 2 } });
  });

  it('does not ask for an idempotency key, which most routes refuse', () => {
    expect(refusalOf(new Error('Connection terminated'))?.message).not.toContain('idempotency key');
  });

  it('is a thrown refusal itself, even with the words of an outage in it', () => {
    const refusal = new Refusal(409, '`name` is "Connection terminated", which another template has');
    expect(refusalOf(refusal)).toBe(refusal);
  });

  it('is undefined for an internal error', () => {
    expect(refusalOf(new TypeError('x is not a function'))).toBeUndefined();
    expect(refusalOf(undefined)).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { Refusal } from '@posthorn/kernel';
import { refusalOf } from './refusal-of.ts';

describe('What callers are told of a fault', () => {
  it('is to ask again while the database is away', () => {
    const away = Object.assign(new Error('connect ECONNREFUSED db.internal:5432'), { code: 'ECONNREFUSED' });
    expect(refusalOf(away)).toMatchObject({ statusCode: 503, details: { retryAfterSeconds: 2 } });
  });

  it('is a refusal as it is, also with the words of an outage in it', () => {
    const refusal = new Refusal(409, '`name` is "Connection terminated", which another template has');
    expect(refusalOf(refusal)).toBe(refusal);
  });

  it('is nothing of what is our own', () => {
    expect(refusalOf(new TypeError('x is not a function'))).toBeUndefined();
    expect(refusalOf(undefined)).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { closestName } from './closest-name.ts';

const KNOWN = ['sendAt', 'to', 'monthly-limit', 'workspace list'];

describe('The closest name', () => {
  it.each([
    ['send_at', 'sendAt'],
    ['snedAt', 'sendAt'],
    ['monthlylimt', 'monthly-limit'],
    ['workspce list', 'workspace list'],
  ])('of %s is %s', (name, closest) => expect(closestName(name, KNOWN)).toBe(closest));

  it.each(['deliverAt', 'ot', 'x'.repeat(1_000_000), ''])('of another word is none', (name) =>
    expect(closestName(name, KNOWN)).toBeUndefined(),
  );
});

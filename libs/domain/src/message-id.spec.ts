import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { messageIdFor } from './message-id.ts';

describe('S9: messageIdFor', () => {
  it('is unique to the email and always the same, at the domain of the sender', () => {
    const [one, two] = [newId('trs', 1_700_000_000_000), newId('trs', 1_700_000_000_000)];
    expect(messageIdFor(one, 'Example.COM')).toBe(messageIdFor(one, 'example.com'));
    expect(messageIdFor(one, 'example.com')).not.toBe(messageIdFor(two, 'example.com'));
    expect(messageIdFor(one, 'example.com')).toMatch(/^[0-9a-z]{26}@example\.com$/);
  });
});

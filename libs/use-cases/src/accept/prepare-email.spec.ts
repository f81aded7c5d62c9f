import { describe, expect, it } from '@jest/globals';
import { DatabaseClock, newId } from '@posthorn/kernel';
import { fingerprintOf, prepareRawEmail } from './prepare-email.ts';
import { rawDraft } from './raw-draft.fixture.ts';

const CONTEXT = { workspaceId: newId('wrk', 0), isBulk: false, clock: new DatabaseClock() };
const LINKS = '{{unsubscribeUrl}}'.repeat(1_001);
const prepare = (change: Parameters<typeof rawDraft>[0]) => prepareRawEmail(rawDraft(change), null, CONTEXT);

describe('A raw email', () => {
  it('S20: may contain the link to unsubscribe 1,000 times in each part, because it is longer than its placeholder', () => {
    expect(() => prepare({ unsubscribe: true, html: LINKS })).toThrow(
      '`html` has `{{unsubscribeUrl}}` 1001 times; at most 1000 are allowed',
    );
    expect(() => prepare({ unsubscribe: true, text: LINKS })).toThrow('`text` has');
    expect(prepare({ unsubscribe: true, html: LINKS.slice(18), text: LINKS.slice(18) }).status).toBe('SENT');
  });

  it('counts its content in bytes as it is stored, which for most scripts are more than its characters', () => {
    expect(prepare({ html: '郵便', text: 'é' }).bytesToAccept).toBe(8);
  });

  it('may contain the placeholder any number of times where it is just text', () => {
    expect(prepare({ html: LINKS }).status).toBe('SENT');
  });
});

describe('S11: the fingerprint of a payload', () => {
  it('is the SHA-256 of its canonical JSON in UTF-8', () => {
    expect(fingerprintOf({ b: 1, a: 'ü' }).toString('hex')).toBe(
      '4e7ff4080b1a00acdaf71eb0cdf2d504aa8068bbb375c002eac2df3f064047a7',
    );
    expect(fingerprintOf({ a: 'ü' })).not.toEqual(fingerprintOf({ a: 'u\u0308' }));
  });
});

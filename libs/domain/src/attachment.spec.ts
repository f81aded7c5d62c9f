import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  faultInBase64,
  faultInContentId,
  faultInFilename,
  faultInMediaType,
  sizeOfBase64,
} from './attachment.ts';

describe('S22: the name of an attached file', () => {
  it.each([
    'a',
    'invoice-10042.pdf',
    'Rechnung für März.pdf',
    '請求書.pdf',
    'a "b" = c?.txt',
    '.env',
    'مستند.pdf',
  ])('may be %j', (name) => expect(faultInFilename(name)).toBeUndefined());

  it.each([
    ['', 'is empty'],
    ['   ', 'is empty'],
    ['../a.pdf', 'has a slash'],
    ['C:\\a.pdf', 'has a slash'],
    ['a\r\nBcc: x@example.com', 'U+000D'],
    ['a\0.pdf', 'U+0000'],
    ['a\tb.pdf', 'U+0009'],
    ['invoice-\u202efdp.exe', 'U+202E'],
    ['a\u200b.pdf', 'U+200B'],
  ])('may not be %j', (name, fault) => expect(faultInFilename(name)).toContain(fault));
});

describe('S22: a media type', () => {
  it.each([
    'application/pdf',
    'text/csv; charset=utf-8',
    'text/calendar;method=REQUEST; charset=UTF-8',
    'image/svg+xml',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ])('may be %j', (type) => expect(faultInMediaType(type)).toBeUndefined());

  it.each([
    ['', 'is not a media type'],
    ['pdf', 'is not a media type'],
    ['application/', 'is not a media type'],
    ['application/pdf;', 'is not a media type'],
    ['application/pdf; name="a.pdf"', 'is not a media type'],
    ['application/pdf\r\nX: y', 'is not a media type'],
    ['a b/c', 'is not a media type'],
    ['multipart/mixed', 'must not be `multipart/…`'],
    ['Message/RFC822', 'must not be `message/…`'],
  ])('may not be %j', (type, fault) => expect(faultInMediaType(type)).toContain(fault));
});

describe('S22: a content id', () => {
  it.each(['logo', 'logo.png', 'part1.06090408@example.com', 'a_b-c'])('may be %j', (id) =>
    expect(faultInContentId(id)).toBeUndefined(),
  );

  it.each(['', '<logo>', 'a b', 'a"b', 'logo\r\n', 'logö', 'a,b'])('may not be %j', (id) =>
    expect(faultInContentId(id)).toContain('has characters that it cannot have'),
  );
});

describe('S22: a file in base64', () => {
  it('may have any bytes, and has their size', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        const content = Buffer.from(bytes).toString('base64');
        expect(faultInBase64(content)).toBeUndefined();
        expect(sizeOfBase64(content)).toBe(bytes.length);
      }),
    );
  });

  it.each([
    ['', 'is empty'],
    ['data:image/png;base64,AAAA', 'is a `data:` URL'],
    ['AAAA\nAAAA', 'has line breaks'],
    ['AAAA\r\n', 'has line breaks'],
    ['AAA', 'is not base64'],
    ['AAAAA', 'is not base64'],
    ['AA', 'is not base64'],
    ['AA=A', 'is not base64'],
    ['====', 'is not base64'],
    ['A===', 'is not base64'],
    ['AB==', 'is not base64'],
    ['AAB=', 'is not base64'],
    ['AA AA AA', 'is not base64'],
    ['-_-_', 'is not base64'],
    ['äöüß', 'is not base64'],
    ['%PDF-1.4', 'is not base64'],
  ])('may not be %j', (content, fault) => expect(faultInBase64(content)).toContain(fault));

  it('is decided quickly for megabytes that are almost base64', () => {
    expect(faultInBase64(`${'A'.repeat(8 * 1024 * 1024 - 1)}!`)).toContain('is not base64');
  });
});

import { describe, expect, it } from '@jest/globals';
import { messageFor, RAW, TEMPLATED } from './send-email.request.fixture.ts';
import { validateEmailRequest } from './validate-email-request.ts';

const FILE = { filename: 'a.txt', content: 'QQ==' };
const MIB = 1024 * 1024;
const ofBytes = (bytes: number): string => Buffer.alloc(bytes).toString('base64');

describe('S22: attachments', () => {
  it.each([
    ['none', []],
    ['a file', [FILE]],
    [
      'a file with everything',
      [{ ...FILE, contentType: 'text/plain; charset=utf-8', contentId: 'a@example.com' }],
    ],
    ['two files of the same name', [FILE, FILE]],
    ['20 files', Array.from({ length: 20 }, () => FILE)],
    ['7 MiB', [{ ...FILE, content: ofBytes(7 * MIB) }]],
    ['7 MiB in parts', [{ ...FILE, content: ofBytes(7 * MIB - 1) }, FILE]],
  ])('may be %s, in both kinds of email', (_what, attachments) => {
    for (const email of [RAW, TEMPLATED])
      expect(validateEmailRequest({ ...email, attachments })).toMatchObject({ attachments });
  });

  it.each([
    [null, '`attachments` is null; give it a value or leave it out'],
    ['a.txt', '`attachments` is a string; give an array of objects'],
    [FILE, '`attachments` is an object; give an array of objects'],
    [42, '`attachments` is a number; give an array of objects'],
    [[null], '`attachments[0]` is null; give an object'],
    [['QQ=='], '`attachments[0]` is a string; give an object'],
    [[[FILE]], '`attachments[0]` is an array; give an object'],
    [
      [{}],
      '`attachments[0].filename` is missing; give a string; `attachments[0].content` is missing; give the file in base64',
    ],
    [[FILE, { ...FILE, filename: '' }], '`attachments[1].filename` is empty; give at least 1 character'],
    [[{ ...FILE, filename: 7 }], '`attachments[0].filename` is a number; give a string'],
    [
      [{ ...FILE, filename: 'x'.repeat(256) }],
      '`attachments[0].filename` has 256 characters, 1 more than the 255 allowed',
    ],
    [
      [{ ...FILE, filename: '../a' }],
      '`attachments[0].filename` has a slash; give the name of the file without its folder',
    ],
    [[{ ...FILE, content: '' }], '`attachments[0].content` is empty; give the file in base64'],
    [[{ ...FILE, content: [1, 2] }], '`attachments[0].content` is an array; give the file in base64'],
    [
      [{ ...FILE, content: { type: 'Buffer', data: [65] } }],
      '`attachments[0].content` is an object; give the file in base64',
    ],
    [[{ ...FILE, content: 'QQ' }], /^`attachments\[0\]\.content` is not base64/],
    [[{ ...FILE, content: 'QQ==\n' }], '`attachments[0].content` has line breaks; give base64 in one line'],
    [
      [{ ...FILE, contentType: 'pdf' }],
      /^`attachments\[0\]\.contentType` is not a media type; give one as in/,
    ],
    [
      [{ ...FILE, contentType: null }],
      '`attachments[0].contentType` is null; give it a value or leave it out',
    ],
    [[{ ...FILE, contentType: 'message/rfc822' }], /^`attachments\[0\]\.contentType` must not be `message/],
    [[{ ...FILE, contentId: '<logo>' }], /^`attachments\[0\]\.contentId` has characters that it cannot have/],
    [[{ ...FILE, contentId: '' }], /^`attachments\[0\]\.contentId` .*, or leave it out$/],
    [
      [{ ...FILE, contentId: 'a' }, FILE, { ...FILE, contentId: 'a' }],
      '`attachments[2].contentId` is that of another attachment; give each its own',
    ],
    [Array.from({ length: 21 }, () => FILE), '`attachments` has 21 items, 1 more than the 20 allowed'],
    [
      [{ ...FILE, content: ofBytes(7 * MIB) }, FILE],
      '`attachments` has 7,340,033 bytes, 1 more than the 7,340,032 allowed; link to larger files',
    ],
  ])('may not be %j', (attachments, message) => {
    for (const email of [RAW, TEMPLATED])
      if (typeof message === 'string') expect(messageFor({ ...email, attachments })).toBe(message);
      else expect(messageFor({ ...email, attachments })).toMatch(message);
  });

  it.each([
    ['Name', 'did you mean `filename`?'],
    ['file_name', 'did you mean `filename`?'],
    ['data', 'did you mean `content`?'],
    ['ContentType', 'did you mean `contentType`?'],
    ['content_type', 'did you mean `contentType`?'],
    ['type', 'did you mean `contentType`?'],
    ['ContentID', 'did you mean `contentId`?'],
    ['content_id', 'did you mean `contentId`?'],
    ['inline_content_id', 'did you mean `contentId`?'],
    ['path', 'is not supported: Posthorn loads no files'],
    ['url', 'is not supported: Posthorn loads no files'],
    ['disposition', 'is not supported: an attachment with `contentId` is shown'],
    ['xyz', 'is not a known field; there are `attachments[0].filename`, '],
  ])('G4: a field `%s`, as other services have it, is answered with ours', (name, advice) => {
    const message = messageFor({ ...RAW, attachments: [{ ...FILE, [name]: 'x' }] });
    expect(message).toContain(`\`attachments[0].${name}\` `);
    expect(message).toContain(advice);
  });

  it.each(['Attachments', 'attachment', 'inline'])('G4: `%s` is answered with `attachments`', (name) => {
    expect(messageFor({ ...RAW, [name]: [FILE] })).toContain('did you mean `attachments`?');
  });
});

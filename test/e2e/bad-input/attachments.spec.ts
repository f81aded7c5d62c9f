import { describe, it } from '@jest/globals';
import { type Case, casesOf, type Fault, inBatch, inRawEmail } from './cases.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);
const MIB = 1024 * 1024;

const FILE = { filename: 'a.pdf', content: 'JVBERg==' };
const ofFile = (change: object): object[] => [{ ...FILE, ...change }];
const zeros = (bytes: number): string => Buffer.alloc(bytes).toString('base64');

const faults: Fault[] = [
  { what: 'null', value: null, says: '`attachments` is null' },
  { what: 'a string', value: 'a.pdf', says: '`attachments` is a string' },
  { what: 'one file without its array', value: FILE, says: '`attachments` is an object' },
  { what: 'no file', value: [null], says: '`attachments[0]` is null' },
  { what: 'an array of arrays', value: [[FILE]], says: '`attachments[0]` is an array' },
  { what: 'an empty file', value: [{}], says: '`attachments[0].filename` is missing' },
  { what: 'the second of two', value: [FILE, 'x'], says: '`attachments[1]` is a string' },
  { what: '21 files', value: Array(21).fill(FILE), says: 'has 21 items, 1 more than the 20' },
  {
    what: 'a file too large',
    value: ofFile({ content: zeros(7 * MIB + 1) }),
    says: '1 more than the 7,340,032',
  },
  {
    what: 'files too large together',
    value: [...ofFile({ content: zeros(7 * MIB) }), FILE],
    says: '4 more than the 7,340,032',
  },
  { what: 'a name that is a number', value: ofFile({ filename: 1 }), says: '`attachments[0].filename`' },
  { what: 'an empty name', value: ofFile({ filename: '' }), says: '`attachments[0].filename` is empty' },
  { what: 'a path', value: ofFile({ filename: '../../etc/passwd' }), says: 'without its folder' },
  { what: 'a header in the name', value: ofFile({ filename: 'a\r\nBcc: x@example.com' }), says: 'U+000D' },
  { what: 'a reversed name', value: ofFile({ filename: 'a\u202efdp.exe' }), says: 'U+202E' },
  { what: 'a long name', value: ofFile({ filename: 'x'.repeat(256) }), says: 'has 256 characters' },
  { what: 'no base64', value: ofFile({ content: '%PDF-1.4' }), says: 'is not base64' },
  { what: 'base64url', value: ofFile({ content: '-_-_' }), says: 'is not base64' },
  { what: 'base64 without padding', value: ofFile({ content: 'JVBERg' }), says: 'is not base64' },
  { what: 'base64 in lines', value: ofFile({ content: 'JVBE\r\nRg==' }), says: 'has line breaks' },
  { what: 'a data URL', value: ofFile({ content: 'data:;base64,JVBERg==' }), says: 'is a `data:` URL' },
  {
    what: 'bytes as an array',
    value: ofFile({ content: [37, 80] }),
    says: '`attachments[0].content` is an array',
  },
  { what: 'no type', value: ofFile({ contentType: 'pdf' }), says: 'is not a media type' },
  {
    what: 'a header in the type',
    value: ofFile({ contentType: 'a/b\r\nX: y' }),
    says: 'is not a media type',
  },
  {
    what: 'a type with parts',
    value: ofFile({ contentType: 'multipart/mixed' }),
    says: 'must not be `multipart',
  },
  { what: 'an id in brackets', value: ofFile({ contentId: '<logo>' }), says: '`attachments[0].contentId`' },
  {
    what: 'an id of two files',
    value: [...ofFile({ contentId: 'a' }), ...ofFile({ contentId: 'a' })],
    says: '`attachments[1].contentId` is that of another',
  },
  { what: 'a path to load', value: ofFile({ path: 'http://169.254.169.254/' }), says: 'loads no files' },
  {
    what: 'an unknown field',
    value: ofFile({ size: 4 }),
    says: '`attachments[0].size` is not a known field',
  },
];

describe('S22: attachments', () => {
  const field = inRawEmail('attachments');
  it.each(titled(casesOf(faults, [field, inBatch(field)])))('%s', refuses);
});

import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { MessageAttachment } from './attachment-part.ts';
import type { MessageSource } from './compose-message.ts';
import type { Mailbox } from './mailboxes.ts';

const CONTROL = /\p{Cc}/gu;

/** Words that a composer, or a reader, could take for something else than words. */
const TRAPS = fc.constantFrom(
  ...['=?UTF-8?Q?x?=', '=?utf-8?b?eA==?=', '=?', '?=', '=20', '=', '_', '"', '\\', '\\"', "'", '`'],
  ...['<a@b.example>', '<', '>', '(comment)', '(', ')', ',', ';', ':', '@', '[', ']', 'group: x@y.example;'],
  ...['Bcc: x@example.net', '%0d%0a', '\u2028', '\u0130', '\u00a0', '\u3000', '\u202e', '\ufeff', '\u200b'],
  ...[
    '.',
    '..',
    '-',
    '--',
    '.com',
    'From ',
    'ﬁ',
    'ß',
    'é',
    'e\u0301',
    '漢字',
    'עברית',
    '👩‍👩‍👧',
    '𝔘',
    '\u{10ffff}',
  ],
  ...[' ', '  ', 'word', 'a much longer word', 'x'.repeat(80), '漢'.repeat(60), 'é'.repeat(60)],
);

const visible = (text: string): string => text.replaceAll(CONTROL, ' ');
const trapped = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(TRAPS, { maxLength }).map((words) => words.join(''));

/** What may be in a header: anything but control characters, of any script and any length that is taken. */
const headerTexts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }).map(visible),
  fc.string({ unit: 'grapheme', maxLength: 100 }).map(visible),
  fc.string({ unit: 'grapheme-ascii', maxLength: 300 }),
  trapped(12),
  fc.lorem({ maxCount: 120 }).map((words) => words.slice(0, 998)),
  fc.nat(998).map((length) => 'x'.repeat(length)),
);

const ATEXT = "abcxyzABCXYZ0189!#$%&'*+/=?^_`{|}~-";
const localParts = fc.oneof(
  fc.stringMatching(/^[a-z0-9]{1,20}(?:[.+-][a-z0-9]{1,10}){0,3}$/),
  fc.string({ unit: fc.constantFrom(...ATEXT), minLength: 1, maxLength: 64 }),
);
const domains = fc.oneof(
  fc.domain(),
  fc.constantFrom(
    'bücher.example',
    '漢字.example',
    'παράδειγμα.example',
    'مثال.example',
    'faß.example',
    'a.b.c.d.example',
  ),
);
const internationalLocalParts = fc.constantFrom('jürgen', '用户', 'δοκιμή.x', 'é'.repeat(32));
/** Addresses; one in twenty needs SMTPUTF8. */
const addresses = fc
  .tuple(
    fc.oneof({ weight: 19, arbitrary: localParts }, { weight: 1, arbitrary: internationalLocalParts }),
    domains,
  )
  .map(([local, domain]) => `${local}@${domain}`);
const mailboxes: fc.Arbitrary<Mailbox> = fc.record(
  { address: addresses, name: headerTexts },
  { requiredKeys: ['address'] },
);

const BODY_UNITS = fc.constantFrom(
  ...[
    'a',
    ' ',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '.',
    '\n.\n',
    '\r\n.\r\n',
    '=',
    '=3D',
    '=\n',
    'From ',
    '\nFrom ',
    '>From ',
  ],
  ...[
    'é',
    '漢',
    '😀',
    '\ufeff',
    '\u2028',
    '\u0085',
    '--',
    '--=_',
    '\n--=_trs_',
    'x'.repeat(990),
    'x'.repeat(75),
  ],
  ...[
    '<p>Hello</p>',
    '<a href="https://example.com/?a=1&b=2">',
    '&nbsp;',
    '\n\n\n',
    'Content-Type: text/html\n\n',
  ],
);

/** What may be in a text or in HTML: any lines, ends of lines, lengths of lines, scripts; no NUL, which is never taken. */
const bodies: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ unit: BODY_UNITS, maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 600 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 3_000 }),
    fc.string({ unit: 'grapheme', maxLength: 600 }),
    fc.lorem({ mode: 'sentences', maxCount: 40 }),
  )
  .map((text) => text.replaceAll('\0', ''));

const files: fc.Arbitrary<MessageAttachment> = fc.record(
  {
    filename: headerTexts.map((text) => [...text.replaceAll(/[/\\]/g, '-')].slice(0, 255).join('') || 'x'),
    contentType: fc.constantFrom(
      'application/pdf',
      'text/csv; charset=utf-8',
      'image/png',
      'text/calendar;method=REQUEST',
    ),
    content: fc
      .oneof(
        fc.uint8Array({ minLength: 1, maxLength: 400 }),
        fc.nat(171).map((length) => new Uint8Array(length + 1)),
      )
      .map((bytes) => Buffer.from(bytes).toString('base64')),
    contentId: fc.stringMatching(/^[a-z0-9._-]{1,30}(@[a-z]{1,10}\.example)?$/),
  },
  { requiredKeys: ['filename', 'contentType', 'content'] },
);
/** None in every other message, with distinct content ids. */
const attachments = fc.option(
  fc.uniqueArray(files, { maxLength: 4, selector: (file) => file.contentId ?? file }),
  { nil: undefined, freq: 1 },
);

const ids = fc.stringMatching(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/);
const YEARS = {
  min: new Date('1990-01-01T00:00:00Z'),
  max: new Date('2099-12-31T23:59:59Z'),
  noInvalidDate: true,
};

/** Whatever the composer may be given. */
export const messageSources: fc.Arbitrary<MessageSource> = fc
  .record({
    uuid: ids,
    domain: domains,
    date: fc.date(YEARS),
    from: mailboxes,
    to: mailboxes,
    replyTo: fc.array(mailboxes, { maxLength: 2 }),
    unsubscribeUrl: fc.option(
      fc.stringMatching(/^https?:\/\/[a-z]{1,20}\.example\/u\/[A-Za-z0-9._~-]{1,200}$/),
      { nil: undefined },
    ),
    unsubscribeMailto: fc.option(
      fc.stringMatching(/^mailto:[a-z0-9-]{1,64}@[a-z]{1,40}\.example\?subject=x$/),
      {
        nil: undefined,
      },
    ),
    feedbackId: fc.option(fc.stringMatching(/^([a-z0-9_]{1,30}:){0,3}[a-z0-9-]{5,15}$/), { nil: undefined }),
    isAutoGenerated: fc.boolean(),
    subject: headerTexts,
    html: bodies,
    text: bodies,
    attachments,
  })
  .map(({ uuid, domain, ...source }) => ({ id: `trs_${uuid}`, messageId: `${uuid}@${domain}`, ...source }));

const CORPUS = new URL('../../../../test/corpus/email-templates/', import.meta.url);

/** The mails of the corpus, whose templates say what mails really say. */
export function corpusSources(): MessageSource[] {
  const folders = readdirSync(CORPUS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }, index) => ({
    id: `trs_corpus_${index}`,
    messageId: `corpus-${index}@example.com`,
    date: new Date('2026-03-04T05:06:07.890Z'),
    from: { address: 'sender@example.com', name: 'Sender' },
    to: { address: 'receiver@example.org' },
    replyTo: [],
    subject: name,
    html: readFileSync(new URL(`${name}/content.html`, CORPUS), 'utf8'),
    text: readFileSync(new URL(`${name}/content.txt`, CORPUS), 'utf8'),
  }));
}

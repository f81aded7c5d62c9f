import { randomInt } from 'node:crypto';
import { isAscii } from 'node:buffer';
import { domainToASCII } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import PostalMime, { type Address, type Email } from 'postal-mime';
import type { MessageAttachment } from './attachment-part.ts';
import { composeMessage, type MessageSource } from './compose-message.ts';
import type { Mailbox } from './mailboxes.ts';
import { type PythonReading, readByPython, whyNoPython } from './python-parser.fixture.ts';
import { corpusSources, messageSources } from './random-sources.fixture.ts';

/** The seed of a run: set COMPOSER_SEED to repeat one. Each test shows it in its title. */
const SEED = Number(process.env['COMPOSER_SEED'] ?? randomInt(2 ** 31));
const CHUNK = 1_000;
const CHUNKS = 10;

const missingPython = whyNoPython();

interface Composed {
  readonly source: MessageSource;
  readonly message: Buffer;
}

const composed = (source: MessageSource): Composed => ({ source, message: composeMessage(source) });

/** Adds the message, as JSON that can be composed again, to an error. */
function about({ source }: Composed, judge: () => void): void {
  try {
    judge();
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\nThe message was made of ${JSON.stringify(source)}`, {
      cause: error,
    });
  }
}

const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
const withLf = (text: string): string => text.replace(/\r\n?/g, '\n');

/** The address in its transmitted form, without the tested code: an international domain in punycode. */
function wire(address: string): string {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  return address.slice(0, at + 1) + (isPlain(domain) ? domain : domainToASCII(domain));
}

const withoutOuterSpaces = (text: string): string => text.replaceAll(/^ +|(?<! ) +$/g, '');
/** A name of only white space counts as none. */
const nameOf = ({ name = '' }: Mailbox): string => (name.trim() === '' ? '' : withoutOuterSpaces(name));
const wholeSeconds = (date: Date): number => Math.floor(date.getTime() / 1_000) * 1_000;

const namesOf = ({ replyTo, unsubscribeUrl }: MessageSource): string[] => [
  ...['From', 'To', ...(replyTo.length > 0 ? ['Reply-To'] : []), 'Subject', 'Date', 'Message-ID'],
  ...(unsubscribeUrl === undefined ? [] : ['List-Unsubscribe']),
  ...(unsubscribeUrl?.startsWith('https:') ? ['List-Unsubscribe-Post'] : []),
  ...['MIME-Version', 'Content-Type'],
];

/** The headers that occur once. */
const valuesOf = ({ subject, messageId, unsubscribeUrl }: MessageSource): Record<string, string> => ({
  'Subject': withoutOuterSpaces(subject),
  'Message-ID': `<${wire(messageId)}>`,
  ...(unsubscribeUrl !== undefined && { 'List-Unsubscribe': `<${unsubscribeUrl}>` }),
  ...(unsubscribeUrl?.startsWith('https:') && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
});

/** Checks that line breaks are CRLF only, that no line exceeds the limit of SMTP, and that header lines are long only where they cannot be folded. */
function expectSoundLines({ message }: Composed): void {
  const text = message.toString('latin1');
  expect(text).not.toMatch(/\0|\r(?!\n)|(?<!\r)\n/);
  expect(text.endsWith('\r\n')).toBe(true);
  const lines = text.split('\r\n');
  expect(lines.filter((line) => line.length > 998)).toEqual([]);
  // The limit above is in octets, the following one in characters (RFC 6532, section 3.4).
  const head = message.toString('utf8').split('\r\n\r\n', 1)[0]!;
  const long = head.split('\r\n').filter((line) => line.length > 78);
  // A single address or URL must not be folded.
  expect(long.filter((line) => !/^(?:[A-Za-z-]+:)? <?[^ ]+>?,?$/.test(line))).toEqual([]);
}

/** A header contains non-ASCII characters only for a non-ASCII local part; bodies never do. */
function expectSevenBits({ source, message }: Composed): void {
  const addresses = [source.from, source.to, ...source.replyTo].map(({ address }) => address);
  const isInternational = addresses.some((address) => !isPlain(address.slice(0, address.lastIndexOf('@'))));
  const endOfHead = message.indexOf('\r\n\r\n');
  expect(isAscii(message.subarray(0, endOfHead))).toBe(!isInternational);
  expect(isAscii(message.subarray(endOfHead))).toBe(true);
}

/** `postal-mime` drops U+FEFF at the beginning of what it decodes, as a byte order mark. */
const withoutMarks = (text: string): string => text.replaceAll('\uFEFF', '');

/** Files in the order in which they are in the message: those of the HTML first. */
const filesOf = ({ attachments = [] }: MessageSource): MessageAttachment[] =>
  attachments.toSorted((a, b) => Number(a.contentId === undefined) - Number(b.contentId === undefined));
const typeOf = ({ contentType }: MessageAttachment): string => contentType.split(';')[0]!;
const dispositionOf = ({ contentId }: MessageAttachment): string =>
  contentId === undefined ? 'attachment' : 'inline';
const contentIdOf = ({ contentId }: MessageAttachment): string | undefined => contentId && `<${contentId}>`;

function expectReadByPostalMime({ source }: Composed, read: Email): void {
  const said = (mailboxes: readonly Mailbox[]): Partial<Address>[] =>
    mailboxes.map((mailbox) => ({ address: wire(mailbox.address), name: withoutMarks(nameOf(mailbox)) }));
  const seen = (mailboxes: readonly Address[]): Partial<Address>[] =>
    mailboxes.map(({ address, name }) => ({ address: address ?? '', name: withoutMarks(name) }));
  expect(seen([read.from!])).toEqual(said([source.from]));
  expect(seen(read.to ?? [])).toEqual(said([source.to]));
  expect(seen(read.replyTo ?? [])).toEqual(said(source.replyTo));
  expect(withoutMarks(read.subject ?? '')).toBe(withoutMarks(withoutOuterSpaces(source.subject)));
  expect(read.messageId).toBe(`<${wire(source.messageId)}>`);
  expect(new Date(read.date!).getTime()).toBe(wholeSeconds(source.date));
  expect(read.headers.map(({ key }) => key)).toEqual(namesOf(source).map((name) => name.toLowerCase()));
  expect(
    read.attachments.map(({ filename, mimeType, disposition, contentId, content }) => ({
      filename,
      mimeType,
      disposition,
      contentId,
      content: Buffer.from(content as ArrayBuffer).toString('base64'),
    })),
  ).toEqual(
    filesOf(source).map((file) => ({
      filename: file.filename,
      mimeType: typeOf(file),
      disposition: dispositionOf(file),
      contentId: contentIdOf(file),
      content: file.content,
    })),
  );
  for (const part of ['text', 'html'] as const) {
    const expected = withoutMarks(withLf(source[part]));
    // It wrongly counts the line break before a boundary as content (RFC 2046, section 5.1.1).
    expect([expected, `${expected}\n`]).toContain(withoutMarks(withLf(read[part] ?? '')));
  }
}

/** How mailauth parses a message before it verifies signatures: the headers and the sender. */
async function expectReadByMailauth({ source, message }: Composed): Promise<void> {
  const resolver = (): Promise<never> => Promise.reject(new Error('nothing is signed'));
  const read = await dkimVerify(message, { resolver });
  const { headers } = read as unknown as { headers: { parsed: { casedKey: string }[] } };
  expect(headers.parsed.map(({ casedKey }) => casedKey)).toEqual(namesOf(source));
  expect(read.headerFrom).toEqual([wire(source.from.address)]);
}

function expectReadByPython({ source }: Composed, read: PythonReading): void {
  const said = (mailboxes: readonly Mailbox[]): string[][] =>
    mailboxes.map((mailbox) => [nameOf(mailbox), wire(mailbox.address)]);
  expect(read.defects).toEqual([]);
  expect(read.names).toEqual(namesOf(source));
  expect(read.values).toEqual(valuesOf(source));
  expect(read.mailboxes['From']).toEqual(said([source.from]));
  expect(read.mailboxes['To']).toEqual(said([source.to]));
  expect(read.mailboxes['Reply-To']).toEqual(said(source.replyTo));
  expect(read.date).toBe(wholeSeconds(source.date));
  const { attachments = [] } = source;
  expect(read.types).toEqual([
    ...(attachments.some(({ contentId }) => contentId === undefined) ? ['multipart/mixed'] : []),
    'multipart/alternative',
    ...(attachments.some(({ contentId }) => contentId !== undefined) ? ['multipart/related'] : []),
  ]);
  expect(read.files).toEqual(
    filesOf(source).map((file) => ({
      type: typeOf(file),
      name: file.filename,
      disposition: dispositionOf(file),
      contentId: contentIdOf(file) ?? null,
      content: file.content,
    })),
  );
  expect(read.parts.map(({ text, ...part }) => ({ ...part, text: withLf(text) }))).toEqual([
    { type: 'text/plain', charset: 'utf-8', text: withLf(source.text) },
    { type: 'text/html', charset: 'utf-8', text: withLf(source.html) },
  ]);
}

async function expectReadByAll(sources: readonly MessageSource[]): Promise<void> {
  const all = sources.map(composed);
  for (const each of all) {
    const [byPostalMime] = await Promise.all([PostalMime.parse(each.message), expectReadByMailauth(each)]);
    about(each, () => {
      expect(composeMessage(structuredClone(each.source)).equals(each.message)).toBe(true);
      expectSoundLines(each);
      expectSevenBits(each);
      expectReadByPostalMime(each, byPostalMime);
    });
  }
  if (missingPython !== undefined) return;
  const byPython = readByPython(all.map(({ message }) => message));
  for (const [index, each] of all.entries()) about(each, () => expectReadByPython(each, byPython[index]!));
}

const readers =
  missingPython === undefined
    ? 'postal-mime, mailauth and Python'
    : `postal-mime and mailauth (not by Python: ${missingPython})`;

describe(`A composed message is parsed by ${readers} into its source`, () => {
  it('in each mail of the corpus', async () => {
    const sources = corpusSources();
    expect(sources).toHaveLength(11);
    await expectReadByAll(sources);
  });

  it.each(Array.from({ length: CHUNKS }, (_, chunk) => chunk))(
    `in a thousand random mails, and made twice it is the same bytes (COMPOSER_SEED=${SEED}, chunk %i)`,
    (chunk) => expectReadByAll(fc.sample(messageSources, { numRuns: CHUNK, seed: SEED + chunk })),
  );
});

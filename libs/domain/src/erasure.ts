import { domainToUnicode } from 'node:url';
import { type EmailId, uuidOf } from '@posthorn/kernel';
import type { EventEmail } from './events/event-data.ts';
import { parseMailbox } from './mailbox.ts';

/** Replaces personal data. It has no character that JSON or HTML would escape. */
export const ERASED = '[erased]';

/** All forms of an address in stored data, in lower case as Postgres has it: its domain in ASCII or Unicode; escaped for JSON, HTML or a URL. */
export function addressSpellings(address: string): string[] {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1).toLowerCase();
  const plain = foldedForms(address.slice(0, at)).flatMap((local) =>
    [domain, domainToUnicode(domain)].map((name) => `${local}@${name}`),
  );
  const spelled = plain.flatMap((text) => [
    text,
    forJson(text),
    ...HTML_ENCODERS.map((encoder) => forHtml(text, encoder)),
    forUrl(text),
    forUrl(text, '@'),
    forJsonOfDotNet(text),
  ]);
  return [...new Set(spelled)];
}

/**
 * A text in lower case. Beyond ASCII, it depends on the locale of Postgres whether it lowers each letter by itself or all of them as JavaScript does: `ΝΙΚΟΣ`
 * is `νικοσ` or `νικος`. Its patterns do not know the other case of every letter (`ẞ`), so they need the text as it is written, too.
 */
function foldedForms(text: string): string[] {
  const lower = text.toLowerCase();
  if (/^\p{ASCII}*$/u.test(text)) return [lower];
  const letterByLetter = Array.from(text, (letter) =>
    String.fromCodePoint(letter.toLowerCase().codePointAt(0)!),
  );
  return [lower, letterByLetter.join(''), text];
}

const forJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** `System.Text.Json` also escapes what has a meaning in HTML. */
const forJsonOfDotNet = (text: string): string =>
  text.replaceAll(/[&'"+`]/g, (character) => String.raw`\u00${hexOf(character)}`);

type HtmlEncoder = readonly [written: RegExp, asNumber: (character: string) => string];

const decimal = (character: string): string => `&#${character.charCodeAt(0)};`;
const hexadecimal = (character: string): string => `&#x${hexOf(character)};`;
const hexOf = (character: string): string => character.charCodeAt(0).toString(16);

/** The characters of an address, other than `&` and `"`, that encoders for HTML write as numbers. */
const HTML_ENCODERS: readonly HtmlEncoder[] = [
  [/'/g, decimal], // PHP, Jinja
  [/['+]/g, decimal], // Go
  [/['+`]/g, hexadecimal], // Razor
  [/['=`]/g, hexadecimal], // Handlebars; in Python's own, only the first of these
];

const forHtml = (text: string, [written, asNumber]: HtmlEncoder): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll(written, asNumber);
const forUrl = (text: string, at = '%40'): string =>
  text.split('@').map(encodeURIComponent).join(at).toLowerCase();

/** An escape of JSON or of a URL, which may precede an address: its last character is then not part of the address, … */
const ESCAPE = String.raw`(?:\\[nrtbf]|\\u[0-9a-f]{4}|%[0-9a-f]{2})`;
/** … unless the escape encodes a character of an address itself: `%2Bada` is `+ada`. */
const ESCAPED_LETTER = String.raw`(?:\\u00|%)(?:2[bde]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\da])`;

/** What may not be beside an address that is to be matched, because it would be part of a longer one. */
interface Delimiters {
  readonly notBefore: string;
  readonly notAfter: string;
}

const IN_TEXT: Delimiters = {
  notBefore: String.raw`[\w.+-]`,
  notAfter: String.raw`[\w-]|\.[\w]`,
};
/** In a name, what precedes the address is likelier the caller's than the person's, and so is what follows a hyphen, unless it makes another domain. */
const IN_NAME: Delimiters = {
  notBefore: '[[:alnum:]]',
  notAfter: String.raw`[[:alnum:]]|\.[[:alnum:]]|-[[:alnum:]-]*\.[[:alpha:]]`,
};
/** In the name of a file, what follows a full stop is likelier an extension than a part of the domain. */
const IN_FILE_NAME: Delimiters = { notBefore: '[[:alnum:]]', notAfter: '[[:alnum:]]' };

/**
 * A pattern (for Postgres, case-insensitive) that matches an address in these spellings, but not within a longer one: `ada@example.com` is matched
 * at the end of a sentence and after an escape, but neither in `bada@example.com` nor in `ada@example.com.au`. Where an escape cannot be told
 * from other text (`C:\nada@example.com`), it matches: better to erase too much than too little. In JSON, it matches also in the names of groups and files.
 */
export function addressPattern(spellings: readonly string[]): string {
  return [
    delimitedPattern(spellings, IN_TEXT),
    delimitedPattern(spellings, IN_NAME, 'groupBy'),
    delimitedPattern(spellings, IN_FILE_NAME, 'filename'),
  ].join('|');
}

/** The same for names that callers compose, such as idempotency keys: matches the address in `welcome-ada@example.com`. */
export function addressPatternInNames(spellings: readonly string[]): string {
  return delimitedPattern(spellings, IN_NAME);
}

/** A `+` in HTML: what precedes it is part of the address. */
const PLUS_IN_HTML = '&#(?:x2b|43);';

/**
 * A look-behind of one character costs Postgres nothing, a longer one makes it twenty times slower: so the longer ones come after the address.
 *
 * @param member the member of an object in JSON whose value has the address; absent: anything may have it
 */
function delimitedPattern(
  spellings: readonly string[],
  { notBefore, notAfter }: Delimiters,
  member?: string,
): string {
  const address = alternatives(spellings);
  const afterEscape = `(?<=[\\da-fnrt])${address}(?<=${ESCAPE}${address})(?<!${ESCAPED_LETTER}${address})`;
  // Where the `@` is percent-encoded, a `+` of the address is as well: a bare one is an encoded space of a form.
  const afterSpace = String.raw`(?<=\+)${alternatives(spellings.filter((text) => text.includes('%40')))}`;
  const inMember = member === undefined ? '' : String.raw`(?<="${member}": ?"(?:[^"\\]|\\.)*${address})`;
  return `(?:(?<!${notBefore})${address}(?<!${PLUS_IN_HTML}${address})|${afterSpace}|${afterEscape})${inMember}(?!${notAfter})`;
}

function alternatives(spellings: readonly string[]): string {
  const texts = spellings.map((text) => text.replaceAll(/[^\p{L}\p{N}]/gu, String.raw`\$&`));
  return `(?:${texts.join('|')})`;
}

/** Whether an event is about the person with this address: as the recipient, the contact or the member. */
export function isEventAbout(payload: string, address: string): boolean {
  const { data = {} } = JSON.parse(payload) as { data?: Record<string, Record<string, unknown> | null> };
  return Object.values(data).some(
    (subject) => isAddress(subject?.['to'], address) || isAddress(subject?.['email'], address),
  );
}

/** The UUID of the email that an event is about; undefined: it is about something else. */
export function emailOfEvent(payload: string): string | undefined {
  const { data } = JSON.parse(payload) as { data?: { email?: { id?: EmailId } } };
  return data?.email?.id && uuidOf(data.email.id);
}

/** A stored response with the data of emails to a person redacted, so that repeated requests still get one. */
export function redactAnswer(answer: string, address: string): string {
  return JSON.stringify(
    JSON.parse(answer, (_key, value: unknown): unknown => {
      const isAboutPerson =
        typeof value === 'object' && value !== null && 'to' in value && isMailboxOf(value.to, address);
      return isAboutPerson ? Object.fromEntries(Object.entries(value).map(redactMember)) : value;
    }),
  );
}

function redactMember([name, value]: [string, unknown]): [string, unknown] {
  return [name, isRedacted(name) ? ERASED : value];
}

/** Which fields of an email may say who its recipient is. */
const REDACTED_FIELDS: Readonly<Record<keyof EventEmail, boolean>> = {
  id: false,
  messageId: false,
  status: false,
  to: true,
  type: false,
  from: false,
  subject: true,
  template: false,
  groupBy: true,
};

function isRedacted(name: string): boolean {
  return Object.hasOwn(REDACTED_FIELDS, name) && REDACTED_FIELDS[name as keyof EventEmail];
}

/** Whether a recipient has this address; that of a failed item of a batch is as the caller wrote it, perhaps with a name. */
function isMailboxOf(value: unknown, address: string): boolean {
  if (typeof value !== 'string') return false;
  const parsed = parseMailbox(value);
  return 'mailbox' in parsed && isAddress(parsed.mailbox.address, address);
}

function isAddress(value: unknown, address: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === address.toLowerCase();
}

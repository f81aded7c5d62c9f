import { domainToUnicode } from 'node:url';

/** What stands where a person was named. It has no character that JSON or HTML would have to escape. */
export const ERASED = '[erased]';

/** How an address can be written in what is kept, in lower case: its domain in ASCII or not, escaped for JSON, HTML or a URL. */
export function spellingsOf(address: string): string[] {
  const at = address.lastIndexOf('@');
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
  const plain = [domain, domainToUnicode(domain)].map((name) => `${local}@${name}`.toLowerCase());
  const spelled = plain.flatMap((text) => [
    text,
    forJson(text),
    forHtml(text),
    forUrl(text),
    forUrl(text, '@'),
  ]);
  return [...new Set(spelled)];
}

const forJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const forHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll("'", '&#39;').replaceAll('"', '&quot;');
const forUrl = (text: string, at = '%40'): string =>
  text.split('@').map(encodeURIComponent).join(at).toLowerCase();

/** An address may follow an escape of JSON or of a URL, whose last letter is then not a part of the address, … */
const ESCAPE = String.raw`(?:\\[nrtbf]|\\u[0-9a-f]{4}|%[0-9a-f]{2})`;
/** … unless the escape itself stands for a letter of an address: `%2Bada` is `+ada`. */
const ESCAPED_LETTER = String.raw`(?:\\u00|%)(?:2[bde]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\da])`;

/**
 * A pattern (for Postgres, whatever the case) that finds an address in these spellings, but not inside a longer one: `ada@example.com` is found at
 * the end of a sentence and after an escape, but neither in `bada@example.com` nor in `ada@example.com.au`. Where an escape cannot be told from
 * other text (`C:\nada@example.com`), the address is found: too much is erased rather than too little.
 */
export function patternOf(spellings: readonly string[]): string {
  return boundedPattern(spellings, String.raw`(?<![\w.+-])`);
}

/** The same for names that are made of several parts, as idempotency keys are: the address is found in `welcome-ada@example.com`. */
export function patternInNames(spellings: readonly string[]): string {
  return boundedPattern(spellings, String.raw`(?<![[:alnum:]])`);
}

/** Looking behind by one character costs Postgres nothing, by more it takes twenty times as long: so it looks further only where it found the address. */
function boundedPattern(spellings: readonly string[], notAfter: string): string {
  const address = oneOf(spellings);
  const afterEscape = `(?<=[\\da-fnrt])${address}(?<=${ESCAPE}${address})(?<!${ESCAPED_LETTER}${address})`;
  // Where the `@` is escaped, a `+` of an address is too: a bare one is a space of a form.
  const afterSpace = String.raw`(?<=\+)${oneOf(spellings.filter((text) => text.includes('%40')))}`;
  return String.raw`(?:${notAfter}${address}|${afterSpace}|${afterEscape})(?![\w-]|\.[\w])`;
}

function oneOf(spellings: readonly string[]): string {
  const texts = spellings.map((text) => text.replaceAll(/[^\p{L}\p{N}]/gu, String.raw`\$&`));
  return `(?:${texts.join('|')})`;
}

/** Whether an event is about the person: the recipient of its email, or its contact or member. */
export function isEventAbout(payload: string, address: string): boolean {
  const { data = {} } = JSON.parse(payload) as { data?: Record<string, Record<string, unknown> | null> };
  return Object.values(data).some(
    (subject) => isAddress(subject?.['to'], address) || isAddress(subject?.['email'], address),
  );
}

/** The answer to a call without what it says of the emails to a person, so that a call that comes again is still answered. */
export function answerWithout(answer: string, address: string): string {
  return JSON.stringify(
    JSON.parse(answer, (_key, value: unknown): unknown => {
      const isTheirs =
        typeof value === 'object' && value !== null && 'to' in value && isAddress(value.to, address);
      return isTheirs ? Object.fromEntries(Object.entries(value).map(withoutWhatItSays)) : value;
    }),
  );
}

function withoutWhatItSays([name, value]: [string, unknown]): [string, unknown] {
  return [name, SAID_OF_EMAILS.has(name) ? ERASED : value];
}

const SAID_OF_EMAILS = new Set(['to', 'subject', 'groupBy']);

function isAddress(value: unknown, address: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === address.toLowerCase();
}

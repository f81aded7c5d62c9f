import { withoutTrailing } from '@posthorn/kernel';
import { charactersIn } from './characters-in.ts';
import { faultInAddressText, faultInHeaderText, faultInVisibleText } from './invisible-characters.ts';
import { SIZES } from './limits.ts';
import { parseMailDomain } from './mail-domain.ts';

/** One mailbox (RFC 5322, section 3.4): its address with the domain in lower-case ASCII, and the name shown beside it. */
export interface Mailbox {
  readonly address: string;
  readonly name?: string;
}

const LOCAL_PART_OCTETS = 64;
const ADDRESS_OCTETS = 254;
/** Longer than any name and address that pass; keeps the expressions below from reading a megabyte. */
const TEXT_CHARACTERS = 1_000;

const QUOTED_NAME = /^"((?:[^"\\]|\\.)*)" *<([^<>]*)>$/u;
const PLAIN_NAME = /^([^<>"]*)<([^<>]*)>$/u;
/** What has a meaning of its own in a list of addresses, and so must be quoted in a name (RFC 5322, section 3.2.3). */
const NEEDS_QUOTES = /[,;:()@[\]\\]/u;
/** Quotes that do not stand around the whole name: whether they should be shown, only its caller knows. */
const STRAY_QUOTE = /^[^<>"]*"[^<>]*<[^<>]*>$/u;
const QUOTE_IN_NAME =
  'has `"` in its name; put the whole name in double quotes, with `\\` before each that is to be shown, as in `"Ada \\"Countess\\" Lovelace" <ada@example.com>`';
const QUOTED_LOCAL_PART =
  'has a quoted local part, which is not possible here; give an address without quotes before the `@`';
const ENCODED_WORD = /=\?[^?]*\?[^?]*\?[^?]*\?=/u;
/** atext (RFC 5322, section 3.2.3) and dots, and what RFC 6531 adds to them. */
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+\-./=?^_`{|}~\u00a1-\u{10ffff}]+$/u;
/** Spaces of other scripts, and what Unicode has given no character to. */
const SPACE_OR_UNASSIGNED = /[\p{Z}\p{C}]/u;

/**
 * Nearly all addresses match this, which spares them the other checks: a dot-atom without `=` and `?` (encoded words are made of them), and a
 * domain of letters, digits and single hyphens (punycode has two) that ends in letters.
 */
const PLAIN_ADDRESS =
  /^[\w!#$%&'*+\-/^`{|}~]+(?:\.[\w!#$%&'*+\-/^`{|}~]+)*@(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\.)+[A-Za-z]+$/;

/** How what is wrong with a mailbox ends: what to give in its place. */
export const ONE_MAILBOX = 'give one mailbox, such as `ada@example.com` or `Ada <ada@example.com>`';

/** The same where no name may stand beside the address. */
export const BARE_ADDRESS = 'give the address alone, such as `ada@example.com`';

/**
 * Reads exactly one mailbox: `a@b.c`, `Name <a@b.c>` or `"Quoted, Name" <a@b.c>`. The domain must have a dot; the local
 * part is a dot-atom, in UTF-8 where it has to be (RFC 6531).
 *
 * @returns the mailbox, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseMailbox(text: string): { mailbox: Mailbox } | { fault: string } {
  if (isPlainAddress(text)) return plainMailbox(text);
  if (text.length > TEXT_CHARACTERS) return { fault: `is ${text.length} characters long; ${ONE_MAILBOX}` };
  const trimmed = withoutOuterSpaces(text);
  if (trimmed === '') return { fault: `is empty; ${ONE_MAILBOX}` };
  const control = faultInHeaderText(text);
  if (control !== undefined) return { fault: control };
  return trimmed.includes('<') || trimmed.startsWith('"') ? parseNamed(trimmed) : parseBare(trimmed);
}

/** In a text that is no longer than a local part may be, no part is too long. */
function isPlainAddress(text: string): boolean {
  return text.length <= LOCAL_PART_OCTETS && PLAIN_ADDRESS.test(text);
}

function plainMailbox(text: string): { mailbox: Mailbox } {
  const at = text.indexOf('@');
  return { mailbox: { address: text.slice(0, at) + text.slice(at).toLowerCase() } };
}

function parseNamed(text: string): { mailbox: Mailbox } | { fault: string } {
  const quoted = QUOTED_NAME.exec(text);
  const parts = quoted ?? PLAIN_NAME.exec(text);
  if (parts === null) return { fault: faultInBrackets(text) };
  const name = quoted ? parts[1]!.replace(/\\(.)/gu, '$1') : withoutOuterSpaces(parts[1]!);
  const nameFault =
    (quoted ? undefined : faultInPlainName(name)) ?? (name === '' ? undefined : faultInDisplayName(name));
  if (nameFault !== undefined) return { fault: nameFault };
  const parsed = parseBare(parts[2]!);
  if ('fault' in parsed || name === '') return parsed;
  return { mailbox: { address: parsed.mailbox.address, name } };
}

/** `trim` would also take away what is to be refused, such as a byte order mark. */
function withoutOuterSpaces(text: string): string {
  return withoutTrailing(text, ' ').replace(/^ +/, '');
}

function faultInBrackets(text: string): string {
  if (/^"(?:[^"\\]|\\.)*"@/u.test(text)) return QUOTED_LOCAL_PART;
  if (/[,;]/.test(text.slice(text.indexOf('>'), text.lastIndexOf('<') + 1)))
    return `names more than one mailbox; ${ONE_MAILBOX}`;
  if (STRAY_QUOTE.test(text)) return QUOTE_IN_NAME;
  return `is not a name and an address in angle brackets; ${ONE_MAILBOX}`;
}

function faultInPlainName(name: string): string | undefined {
  if (name.includes('(')) return `holds a comment in parentheses; ${ONE_MAILBOX}`;
  const found = NEEDS_QUOTES.exec(name);
  if (found === null) return undefined;
  if (/^[^,;@]*@[^,;]*[,;]/u.test(name)) return `names more than one mailbox; ${ONE_MAILBOX}`;
  return `has \`${found[0]}\` in its name; put the name in double quotes, as in \`"Lovelace, Ada" <ada@example.com>\``;
}

/** What is wrong with a name that is to be shown beside an address; undefined when nothing is. */
export function faultInDisplayName(name: string): string | undefined {
  if (name.trim() === '') return 'is empty; give a name or leave it out';
  const { max } = SIZES.displayName;
  const length = charactersIn(name, max);
  if (length > max) return `has a name of ${length} characters; at most ${max} are possible`;
  if (ENCODED_WORD.test(name))
    return 'has an encoded word (`=?…?=`) in its name; write the name in plain Unicode';
  return faultInVisibleText(name);
}

function parseBare(text: string): { mailbox: Mailbox } | { fault: string } {
  if (isPlainAddress(text)) return plainMailbox(text);
  const fault = faultInShape(text);
  if (fault !== undefined) return { fault };
  const at = text.indexOf('@');
  // Two spellings of the same letters are one address (RFC 6532, section 3.1).
  const local = text.slice(0, at).normalize('NFC');
  const localFault = faultInLocalPart(local);
  if (localFault !== undefined) return { fault: localFault };
  const parsed = parseMailDomain(text.slice(at + 1));
  if ('fault' in parsed) return parsed;
  const address = `${local}@${parsed.domain}`;
  const octets = Buffer.byteLength(address);
  if (octets > ADDRESS_OCTETS)
    return { fault: `is an address of ${octets} octets; at most ${ADDRESS_OCTETS} are possible` };
  return { mailbox: { address } };
}

/** What in the text makes it something other than one address. */
const OTHER_SHAPES: readonly [RegExp, string][] = [
  [/^ *$/u, `has no address; ${ONE_MAILBOX}`],
  [/^@[^:]*:/u, `holds a source route; ${ONE_MAILBOX}`],
  [/[()]/u, `holds a comment in parentheses; ${ONE_MAILBOX}`],
  [/[:;]/u, `is a group or a list; ${ONE_MAILBOX}`],
  [/,/u, `names more than one mailbox; ${ONE_MAILBOX}`],
  [/[<>]/u, `has an angle bracket without its counterpart; ${ONE_MAILBOX}`],
  [/"/u, QUOTED_LOCAL_PART],
  [/^[^@]*$/u, `has no \`@\`; ${ONE_MAILBOX}`],
  [/^[^@]*@[^@]*@/u, `has more than one \`@\`; ${ONE_MAILBOX}`],
  [/[\s\p{Z}]/u, `has a space in its address; ${ONE_MAILBOX}`],
];
const ONE_ADDRESS = /^[^\s\p{Z}@()<>:;,"]+@[^\s\p{Z}@()<>:;,"]+$/u;

function faultInShape(text: string): string | undefined {
  const unseen = faultInAddressText(text);
  if (unseen !== undefined) return unseen;
  if (ONE_ADDRESS.test(text)) return undefined;
  return OTHER_SHAPES.find(([shape]) => shape.test(text))?.[1];
}

function faultInLocalPart(local: string): string | undefined {
  if (local === '') return `has nothing before the \`@\`; ${ONE_MAILBOX}`;
  const octets = Buffer.byteLength(local);
  if (octets > LOCAL_PART_OCTETS) {
    return `has ${octets} octets before the \`@\`; at most ${LOCAL_PART_OCTETS} are possible`;
  }
  if (/^\.|\.\.|\.$/.test(local))
    return 'has a dot at the beginning or end, or two in a row, before the `@`; take it out';
  if (ENCODED_WORD.test(local))
    return 'has an encoded word (`=?…?=`) in its address; write the address in plain Unicode';
  if (!LOCAL_PART.test(local) || SPACE_OR_UNASSIGNED.test(local)) {
    return `has a character before the \`@\` that an address cannot have; ${ONE_MAILBOX}`;
  }
  return undefined;
}

/** The text of a mailbox; {@link parseMailbox} reads it back. */
export function mailboxText({ address, name }: Mailbox): string {
  if (name === undefined) return address;
  const isPlain = !NEEDS_QUOTES.test(name) && !/[<>"]|^ | $/u.test(name);
  return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
}

/** The form of an address in which two are compared: the domain in lower case, the local part as it is (RFC 5321, section 2.4). */
export function addressKey(address: string): string {
  return `${address.slice(0, address.lastIndexOf('@') + 1)}${domainOf(address)}`;
}

/** An address as only its owner knows it again: the first character, and the domain. */
export function maskedAddress(address: string): string {
  const [first = ''] = address;
  return `${first}•••${address.slice(address.lastIndexOf('@'))}`;
}

/** The domain of an address, in lower-case ASCII. */
export function domainOf(address: string): string {
  const text = address.slice(address.lastIndexOf('@') + 1);
  const parsed = parseMailDomain(text);
  return 'domain' in parsed ? parsed.domain : text.toLowerCase();
}

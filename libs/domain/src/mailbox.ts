import { withoutOuterSpaces } from '@posthorn/kernel';
import { countCharacters } from './count-characters.ts';
import { faultInAddressText, faultInHeaderText, faultInVisibleText } from './invisible-characters.ts';
import { SIZES } from './limits.ts';
import { parseMailDomain } from './mail-domain.ts';

/** A mailbox (RFC 5322, section 3.4): the address with its domain in lower-case ASCII, and the display name. */
export interface Mailbox {
  readonly address: string;
  readonly name?: string;
}

const LOCAL_PART_OCTETS = 64;
const ADDRESS_OCTETS = 254;
/** Longer than any valid mailbox, so that the expressions below never run on a huge text. */
const TEXT_CHARACTERS = 1_000;

const QUOTED_NAME = /^"((?:[^"\\]|\\.)*)" *<([^<>]*)>$/u;
const PLAIN_NAME = /^([^<>"]*)<([^<>]*)>$/u;
/** Characters with a meaning in address lists, which must be quoted in a name (RFC 5322, section 3.2.3). */
const NEEDS_QUOTES = /[,;:()@[\]\\]/u;
/** Quotes that do not enclose the whole name: ambiguous, because only the caller knows whether they belong to it. */
const STRAY_QUOTE = /^[^<>"]*"[^<>]*<[^<>]*>$/u;
const QUOTE_IN_NAME =
  'has `"` in its name; put the whole name in double quotes, with `\\` before each that is to be shown, as in `"Ada \\"Countess\\" Lovelace" <ada@example.com>`';
const QUOTED_LOCAL_PART =
  'has a quoted local part, which is not supported; give an address without quotes before the `@`';
const ENCODED_WORD = /=\?[^?]*\?[^?]*\?[^?]*\?=/u;
/** atext (RFC 5322, section 3.2.3), dots, and the characters that RFC 6531 adds. */
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+\-./=?^_`{|}~\u00a1-\u{10ffff}]+$/u;
/** Unicode spaces, control characters and unassigned code points. */
const SPACE_OR_UNASSIGNED = /[\p{Z}\p{C}]/u;

/**
 * A fast path for nearly all addresses: a dot-atom without `=` and `?` (of which encoded words consist), and a domain of letters, digits
 * and single hyphens (punycode has two) that ends in letters.
 */
const PLAIN_ADDRESS =
  /^[\w!#$%&'*+\-/^`{|}~]+(?:\.[\w!#$%&'*+\-/^`{|}~]+)*@(?:[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\.)+[A-Za-z]+$/;

/** The advice at the end of faults of a mailbox. */
export const MAILBOX_HINT = 'give one mailbox, such as `ada@example.com` or `Ada <ada@example.com>`';

/** The same where no display name is allowed. */
export const BARE_ADDRESS_HINT = 'give the address alone, such as `ada@example.com`';

/**
 * Parses exactly one mailbox: `a@b.c`, `Name <a@b.c>` or `"Quoted, Name" <a@b.c>`. The domain must have a dot; the local
 * part is a dot-atom, in UTF-8 where it has to be (RFC 6531).
 *
 * @returns the mailbox, or what is wrong with the text (a predicate to be put after the name of the field)
 */
export function parseMailbox(text: string): { mailbox: Mailbox } | { fault: string } {
  if (isPlainAddress(text)) return plainMailbox(text);
  if (text.length > TEXT_CHARACTERS) return { fault: `is ${text.length} characters long; ${MAILBOX_HINT}` };
  const trimmed = withoutOuterSpaces(text);
  if (trimmed === '') return { fault: `is empty; ${MAILBOX_HINT}` };
  const control = faultInHeaderText(text);
  if (control !== undefined) return { fault: control };
  return trimmed.includes('<') || trimmed.startsWith('"') ? parseNamed(trimmed) : parseBare(trimmed);
}

/** The length limits of the parts hold if the whole text is no longer than a local part may be. */
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

function faultInBrackets(text: string): string {
  if (/^"(?:[^"\\]|\\.)*"@/u.test(text)) return QUOTED_LOCAL_PART;
  if (/[,;]/.test(text.slice(text.indexOf('>'), text.lastIndexOf('<') + 1)))
    return `names more than one mailbox; ${MAILBOX_HINT}`;
  if (STRAY_QUOTE.test(text)) return QUOTE_IN_NAME;
  return `is not a name and an address in angle brackets; ${MAILBOX_HINT}`;
}

function faultInPlainName(name: string): string | undefined {
  const found = NEEDS_QUOTES.exec(name);
  if (found === null) return undefined;
  if (/^[^,;@]*@[^,;]*[,;]/u.test(name)) return `names more than one mailbox; ${MAILBOX_HINT}`;
  return `has \`${found[0]}\` in its name; put the name in double quotes, as in \`"Lovelace, Ada" <ada@example.com>\``;
}

/** What is wrong with a display name; undefined when nothing is. */
export function faultInDisplayName(name: string): string | undefined {
  if (name.trim() === '') return 'is empty; give a name or leave it out';
  const { max } = SIZES.displayName;
  const length = countCharacters(name, max);
  if (length > max) return `has a name of ${length} characters; at most ${max} are allowed`;
  if (ENCODED_WORD.test(name))
    return 'has an encoded word (`=?…?=`) in its name; write the name in plain Unicode';
  return faultInVisibleText(name);
}

function parseBare(text: string): { mailbox: Mailbox } | { fault: string } {
  if (isPlainAddress(text)) return plainMailbox(text);
  const fault = faultInShape(text);
  if (fault !== undefined) return { fault };
  const at = text.indexOf('@');
  // Different encodings of the same characters are one address (RFC 6532, section 3.1).
  const local = text.slice(0, at).normalize('NFC');
  const localFault = faultInLocalPart(local);
  if (localFault !== undefined) return { fault: localFault };
  const parsed = parseMailDomain(text.slice(at + 1));
  if ('fault' in parsed) return parsed;
  const address = `${local}@${parsed.domain}`;
  const octets = Buffer.byteLength(address);
  if (octets > ADDRESS_OCTETS)
    return { fault: `is an address of ${octets} octets; at most ${ADDRESS_OCTETS} are allowed` };
  return { mailbox: { address } };
}

/** Texts that are not exactly one address, with the fault of each. */
const SHAPE_FAULTS: readonly [RegExp, string][] = [
  [/^ *$/u, `has no address; ${MAILBOX_HINT}`],
  [/^@[^:]*:/u, `holds a source route; ${MAILBOX_HINT}`],
  [/[()]/u, `holds a comment in parentheses; ${MAILBOX_HINT}`],
  [/[:;]/u, `is a group or a list; ${MAILBOX_HINT}`],
  [/,/u, `names more than one mailbox; ${MAILBOX_HINT}`],
  [/[<>]/u, `has an angle bracket without its counterpart; ${MAILBOX_HINT}`],
  [/"/u, QUOTED_LOCAL_PART],
  [/^[^@]*$/u, `has no \`@\`; ${MAILBOX_HINT}`],
  [/^[^@]*@[^@]*@/u, `has more than one \`@\`; ${MAILBOX_HINT}`],
  [/[\s\p{Z}]/u, `has a space in its address; ${MAILBOX_HINT}`],
];
const ONE_ADDRESS = /^[^\s\p{Z}@()<>:;,"]+@[^\s\p{Z}@()<>:;,"]+$/u;

function faultInShape(text: string): string | undefined {
  const invisible = faultInAddressText(text);
  if (invisible !== undefined) return invisible;
  if (ONE_ADDRESS.test(text)) return undefined;
  return SHAPE_FAULTS.find(([shape]) => shape.test(text))?.[1];
}

function faultInLocalPart(local: string): string | undefined {
  if (local === '') return `has nothing before the \`@\`; ${MAILBOX_HINT}`;
  const octets = Buffer.byteLength(local);
  if (octets > LOCAL_PART_OCTETS) {
    return `has ${octets} octets before the \`@\`; at most ${LOCAL_PART_OCTETS} are allowed`;
  }
  if (/^\.|\.\.|\.$/.test(local))
    return 'has a dot at the beginning or end, or two in a row, before the `@`; remove it';
  if (ENCODED_WORD.test(local))
    return 'has an encoded word (`=?…?=`) in its address; write the address in plain Unicode';
  if (!LOCAL_PART.test(local) || SPACE_OR_UNASSIGNED.test(local)) {
    return `has a character before the \`@\` that an address cannot have; ${MAILBOX_HINT}`;
  }
  return undefined;
}

/** Formats a mailbox; {@link parseMailbox} parses the result. */
export function mailboxText({ address, name }: Mailbox): string {
  if (name === undefined) return address;
  const isPlain = !NEEDS_QUOTES.test(name) && !/[<>"]|^ | $/u.test(name);
  return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`;
}

/** The form in which addresses are compared: the domain in lower case, the local part unchanged (RFC 5321, section 2.4). */
export function addressKey(address: string): string {
  return `${address.slice(0, address.lastIndexOf('@') + 1)}${domainOf(address)}`;
}

/** An address that only its owner recognises: the first character and the domain. */
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

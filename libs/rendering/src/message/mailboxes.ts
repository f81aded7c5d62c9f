import { domainToASCII } from 'node:url';
import { withoutOuterSpaces } from '@posthorn/kernel';
import { encodedWords } from './encoded-words.ts';
import { refuseControls, UncomposableMessage } from './uncomposable-message.ts';

/** An address with its display name. */
export interface Mailbox {
  /** `local@domain` without angle brackets; both sides may be international. */
  readonly address: string;
  readonly name?: string | undefined;
}

/** RFC 5321 allows 64 + 1 + 255 octets; a longer address could not be sent, and would take too much of the 998 octets of a line. */
const MAX_ADDRESS_BYTES = 512;
/** A longer name is encoded, because encoded words can be folded anywhere and a quoted string only at its spaces. */
const MAX_UNENCODED_NAME = 64;

const LOCAL_PART = /^(?:[^\s"(),:;<>@[\\\]\p{Cc}]+|"(?:[^"\\\p{Cc}]|\\[^\p{Cc}])*")$/u;
const ASCII_DOMAIN = /^(?:[A-Za-z0-9_.-]+|\[[A-Za-z0-9:.-]+\])$/;
const ATOMS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?: [A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;

/**
 * The address as it is written into headers and into the SMTP envelope: an international domain becomes punycode
 * (RFC 5891), the local part is left as it is. Throws {@link UncomposableMessage} when it is not one bare address.
 */
export function wireAddress(address: string): string {
  // Before `domainToASCII`, which silently drops line breaks and tabs.
  refuseControls('an address', address);
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  const asciiDomain = PRINTABLE_ASCII.test(domain) ? domain : domainToASCII(domain);
  const wire = `${local}@${asciiDomain}`;
  const isTooLong = Buffer.byteLength(wire) > MAX_ADDRESS_BYTES;
  if (at < 1 || !LOCAL_PART.test(local) || !ASCII_DOMAIN.test(asciiDomain) || isTooLong) {
    throw new UncomposableMessage('an address is not of the form local@domain or is too long');
  }
  return wire;
}

/**
 * A mailbox (RFC 5322, section 3.4) as tokens between which a line may be folded.
 *
 * @param usedOfLine how many characters of the line are already used
 */
export function mailboxTokens(header: string, mailbox: Mailbox, usedOfLine: number): string[] {
  const address = wireAddress(mailbox.address);
  // No reader sees outer spaces, but they could only be kept by encoding the name, and spam filters distrust ASCII that is encoded for no reason.
  const name = withoutOuterSpaces(mailbox.name ?? '');
  if (name.trim() === '') return [address];
  refuseControls(header, name);
  return [...nameTokens(name, usedOfLine), `<${address}>`];
}

function nameTokens(name: string, usedOfLine: number): string[] {
  // Decoders could take `=?` for an encoded word.
  if (!PRINTABLE_ASCII.test(name) || name.includes('=?')) return encodedWords(name, usedOfLine);
  const phrase = ATOMS.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
  return phrase.length <= MAX_UNENCODED_NAME ? [phrase] : encodedWords(name, usedOfLine);
}

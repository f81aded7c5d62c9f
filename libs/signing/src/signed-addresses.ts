import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type EmailId, parseId } from '@posthorn/kernel';
import { derivedKey, type KeyRing } from './key-ring.ts';

/** What mail to an address is for; one is valid for its purpose only. */
export type AddressPurpose = keyof typeof PURPOSES;

/**
 * How their local parts begin, and what their keys are derived for. Return paths are only used by servers. The others stand in a URL (RFC 6068), where
 * some programs read `+` as a space.
 */
const PURPOSES = {
  bounce: { prefix: 'bounce+', key: 'bounce addresses' },
  unsubscribe: { prefix: 'unsub-', key: 'unsubscribe addresses' },
} as const;

/** The version of the token format, its first character. */
const VERSION = '1';
/** Half of the HMAC, which is what RFC 2104, section 5, asks for at least. */
const MAC_BYTES = 16;
/** Their length in base 36. */
const MAC_CHARACTERS = 25;
/** Form, the 26 characters of the id after its prefix, and the MAC. */
const TOKEN = /^1[0-9a-z]{51}$/i;
const ID_END = 1 + 26;

/**
 * Addresses that are about one email each: its return path (variable envelope return path), and the one by which its recipient unsubscribes. Their token
 * contains the email's id and a MAC of it (HMAC-SHA-256), so that nobody can forge reports and requests about an email that they never received.
 *
 * Format: a prefix, `1`, the id without its prefix, the MAC in base 36. It is case-insensitive, and with the longer prefix it has 59 octets of the 64
 * that a local part may have (RFC 5321, section 4.5.3.1.1).
 */
export class SignedAddresses {
  private readonly keys: readonly KeyObject[];
  private readonly prefix: string;

  /**
   * @param ring the first key signs, all of them verify; what signs is derived from them (RFC 5869) and is not what encrypts
   * @param domain in lower-case ASCII
   */
  constructor(
    ring: KeyRing,
    purpose: AddressPurpose,
    private readonly domain: string,
  ) {
    const { prefix, key: keyPurpose } = PURPOSES[purpose];
    this.prefix = prefix;
    this.keys = ring.map((key) => derivedKey(key, keyPurpose));
  }

  /** The address of an email; it does not change as long as the first key is the same. */
  addressFor(emailId: EmailId): string {
    const signed = VERSION + emailId.slice(emailId.indexOf('_') + 1);
    return `${this.prefix}${signed}${macOf(this.keys[0]!, signed)}@${this.domain}`;
  }

  /** The email of an address; undefined when it is not one of these, or forged. */
  emailOf(address: string): EmailId | undefined {
    const token = this.tokenOf(address);
    return token === undefined ? undefined : this.verified(token);
  }

  /** Whether an address looks like one of these; if it has no email, it was forged, or the key that signed it is not in the ring. */
  hasForm(address: string): boolean {
    return this.tokenOf(address) !== undefined;
  }

  private tokenOf(address: string): string | undefined {
    const at = address.lastIndexOf('@');
    if (address.slice(at + 1).toLowerCase() !== this.domain) return undefined;
    if (address.slice(0, this.prefix.length).toLowerCase() !== this.prefix) return undefined;
    const token = address.slice(this.prefix.length, at);
    return TOKEN.test(token) ? token.toLowerCase() : undefined;
  }

  private verified(token: string): EmailId | undefined {
    const signed = token.slice(0, ID_END);
    const given = Buffer.from(token.slice(ID_END), 'latin1');
    // All keys are tried, so that the time reveals nothing.
    const fits = this.keys.map((key) => timingSafeEqual(Buffer.from(macOf(key, signed), 'latin1'), given));
    return fits.includes(true) ? parseId('trs', `trs_${signed.slice(VERSION.length)}`) : undefined;
  }
}

function macOf(key: KeyObject, signed: string): string {
  const mac = createHmac('sha256', key).update(signed).digest().subarray(0, MAC_BYTES);
  return BigInt(`0x${mac.toString('hex')}`)
    .toString(36)
    .padStart(MAC_CHARACTERS, '0');
}

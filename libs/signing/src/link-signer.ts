import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type KeyRing } from './key-ring.ts';

/** What a signed link is for, and how its token begins; a token for one thing is none for another. */
const PREFIXES = { unsubscribe: 'phu_' } as const;

export type LinkPurpose = keyof typeof PREFIXES;

/** The first byte of every token, so that another form can follow one day. */
const FORM = 1;
const KEY_BYTES = 32;
const NAME_BYTES = 4;
const ID_BYTES = 16;
/** Half of the HMAC, which is what RFC 2104, section 5, asks for at least. */
const MAC_BYTES = 16;
const SIGNED_BYTES = 1 + NAME_BYTES + ID_BYTES;
const TOKEN_CHARACTERS = Math.ceil(((SIGNED_BYTES + MAC_BYTES) * 8) / 6);
const ENCODED = new RegExp(`^[A-Za-z0-9_-]{${TOKEN_CHARACTERS}}$`);

/** A key that signs links, derived from one of the ring. */
interface LinkKey {
  /** By which a token names it: four bytes of a hash. */
  readonly name: Buffer;
  readonly key: Buffer;
}

/**
 * Signs tokens that stand in links of emails, and reads them: the id of what the link is about (HMAC-SHA-256). A token holds nothing else; who
 * has it learns no address from it. The same id gives the same token for as long as the first key is the same.
 *
 * Its form: a prefix, and in base64url 1 byte form, 4 bytes name of the key, 16 bytes id, 16 bytes MAC.
 */
export class LinkSigner {
  private readonly keys: readonly [LinkKey, ...LinkKey[]];

  /** @param ring the first key signs, all of them verify; what signs is derived from them (RFC 5869) and is not what encrypts */
  constructor(ring: KeyRing) {
    this.keys = ring.map(({ key }) => linkKey(key)) as unknown as readonly [LinkKey, ...LinkKey[]];
  }

  /** The token of a link about the thing with this UUID. */
  sign(purpose: LinkPurpose, uuid: string): string {
    const [key] = this.keys;
    const signed = Buffer.concat([Buffer.of(FORM), key.name, Buffer.from(uuid.replaceAll('-', ''), 'hex')]);
    return PREFIXES[purpose] + Buffer.concat([signed, macOf(key, purpose, signed)]).toString('base64url');
  }

  /** The UUID that a token was signed for; undefined when it is none of ours, for this purpose and with a key of the ring. */
  verify(purpose: LinkPurpose, token: string): string | undefined {
    const bytes = bytesOf(PREFIXES[purpose], token);
    if (bytes === undefined) return undefined;
    const signed = bytes.subarray(0, SIGNED_BYTES);
    const mac = bytes.subarray(SIGNED_BYTES);
    const isOurs = this.keys
      .filter(({ name }) => name.equals(signed.subarray(1, 1 + NAME_BYTES)))
      .some((key) => timingSafeEqual(macOf(key, purpose, signed), mac));
    return isOurs ? uuidIn(signed.subarray(1 + NAME_BYTES)) : undefined;
  }
}

function linkKey(secret: Buffer): LinkKey {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'posthorn: links in emails', KEY_BYTES));
  return { key, name: createHash('sha256').update(key).digest().subarray(0, NAME_BYTES) };
}

function macOf({ key }: LinkKey, purpose: LinkPurpose, signed: Buffer): Buffer {
  return createHmac('sha256', key).update(`${purpose}\0`).update(signed).digest().subarray(0, MAC_BYTES);
}

/** Node reads more than one text as the same bytes; only the one that it writes itself is a token. */
function bytesOf(prefix: string, token: string): Buffer | undefined {
  const encoded = token.slice(prefix.length);
  if (!token.startsWith(prefix) || !ENCODED.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64url');
  return bytes[0] === FORM && bytes.toString('base64url') === encoded ? bytes : undefined;
}

function uuidIn(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

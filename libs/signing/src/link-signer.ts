import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { derivedKey, type EncryptionKey, type KeyRing } from './key-ring.ts';

/** The purposes of links and their token prefixes; a token is valid for its purpose only. */
const PREFIXES = { unsubscribe: 'phu_', open: 'pho_', click: 'phc_' } as const;

/** The purposes of links without a target. */
export type LinkPurpose = Exclude<keyof typeof PREFIXES, 'click'>;

/** The contents of a link that redirects to a target. */
export interface SignedTarget {
  /** Of the email that contains the link. */
  readonly uuid: string;
  readonly url: string;
}

/** The version of the token format, its first byte. */
const VERSION = 1;
const NAME_BYTES = 4;
const ID_BYTES = 16;
/** Half of the HMAC, which is what RFC 2104, section 5, asks for at least. */
const MAC_BYTES = 16;
const HEAD_BYTES = 1 + NAME_BYTES + ID_BYTES;
/** Keeps the whole link below the limit of the oldest mail clients (2,083 characters). */
const MAX_TARGET_BYTES = 1_400;
const NOTHING = Buffer.alloc(0);

/** A key that signs links, derived from one of the ring. */
interface LinkKey {
  /** Its identifier in tokens: four bytes of its hash. */
  readonly name: Buffer;
  readonly key: KeyObject;
}

/**
 * Signs and verifies tokens for links in emails (HMAC-SHA-256). A token contains the id of what the link is about and, if it redirects, the target
 * URL; it reveals no address. Signing is deterministic for as long as the first key is the same.
 *
 * Format: a prefix, and in base64url: 1 byte version, 4 bytes name of the key, 16 bytes id, 16 bytes MAC, the target in UTF-8.
 */
export class LinkSigner {
  private readonly keys: readonly LinkKey[];

  /** @param ring the first key signs, all of them verify; what signs is derived from them (RFC 5869) and is not what encrypts */
  constructor(ring: KeyRing) {
    this.keys = ring.map(linkKey);
  }

  /** The token of a link about the thing with this UUID. */
  sign(purpose: LinkPurpose, uuid: string): string {
    return this.tokenOf(purpose, uuid, NOTHING);
  }

  /** The UUID that a token was signed for; undefined when it is none of ours, for this purpose and with a key of the ring. */
  verify(purpose: LinkPurpose, token: string): string | undefined {
    return this.read(purpose, token, 0)?.uuid;
  }

  /** The token of a link that leads to a URL, in the thing with this UUID; undefined when the URL is too long for a link. */
  signTarget({ uuid, url }: SignedTarget): string | undefined {
    const target = Buffer.from(url, 'utf8');
    return target.length > MAX_TARGET_BYTES ? undefined : this.tokenOf('click', uuid, target);
  }

  /** Where a link leads that a token was signed for; undefined when it is none of ours. */
  verifyTarget(token: string): SignedTarget | undefined {
    return this.read('click', token, MAX_TARGET_BYTES);
  }

  private tokenOf(purpose: keyof typeof PREFIXES, uuid: string, rest: Buffer): string {
    const key = this.keys[0]!;
    const head = Buffer.concat([Buffer.of(VERSION), key.name, Buffer.from(uuid.replaceAll('-', ''), 'hex')]);
    const mac = macOf(key, purpose, head, rest);
    return PREFIXES[purpose] + Buffer.concat([head, mac, rest]).toString('base64url');
  }

  /** What a token that is ours holds, with a target of at most so many bytes; a link without a target has an empty one. */
  private read(purpose: keyof typeof PREFIXES, token: string, maxRest: number): SignedTarget | undefined {
    const bytes = bytesOf(PREFIXES[purpose], token, maxRest);
    if (bytes === undefined) return undefined;
    const head = bytes.subarray(0, HEAD_BYTES);
    const mac = bytes.subarray(HEAD_BYTES, HEAD_BYTES + MAC_BYTES);
    const rest = bytes.subarray(HEAD_BYTES + MAC_BYTES);
    const isOurs = this.keys
      .filter(({ name }) => name.equals(head.subarray(1, 1 + NAME_BYTES)))
      .some((key) => timingSafeEqual(macOf(key, purpose, head, rest), mac));
    return isOurs ? { uuid: uuidIn(head), url: rest.toString('utf8') } : undefined;
  }
}

function linkKey(secret: EncryptionKey): LinkKey {
  const key = derivedKey(secret, 'links in emails');
  return { key, name: hash('sha256', key.export(), 'buffer').subarray(0, NAME_BYTES) };
}

function macOf({ key }: LinkKey, purpose: string, head: Buffer, rest: Buffer): Buffer {
  const hmac = createHmac('sha256', key).update(`${purpose}\0`).update(head).update(rest);
  return hmac.digest().subarray(0, MAC_BYTES);
}

/** Node decodes several texts to the same bytes; only the canonical one is accepted. */
function bytesOf(prefix: string, token: string, maxRest: number): Buffer | undefined {
  const min = HEAD_BYTES + MAC_BYTES;
  if (!token.startsWith(prefix)) return undefined;
  const encoded = token.slice(prefix.length);
  const bytes = Buffer.from(encoded, 'base64url');
  if (bytes.length < min || bytes.length > min + maxRest || bytes[0] !== VERSION) return undefined;
  return bytes.toString('base64url') === encoded ? bytes : undefined;
}

function uuidIn(head: Buffer): string {
  const id = head.subarray(1 + NAME_BYTES);
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

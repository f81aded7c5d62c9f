import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { derivedKey, type EncryptionKey, type KeyRing } from './key-ring.ts';
import { SECRET_PREFIXES } from './secret-prefixes.ts';

/** The purposes of links without a target; a token is valid for its purpose only. */
export type LinkPurpose = 'unsubscribe' | 'open';

/** The contents of a link that redirects to a target. */
export interface SignedTarget {
  /** Of the email that contains the link. */
  readonly uuid: string;
  readonly url: string;
}

/** The contents of a link that redirects, as it was followed. */
export interface FollowedTarget extends SignedTarget {
  /** Whether it names the host at which it was followed as its own. */
  readonly namesHost: boolean;
}

/** The versions of the token format, its first byte: of links that name no host, and of those that do. */
const VERSION = 1;
const VERSION_WITH_HOST = 2;
const NAME_BYTES = 4;
const ID_BYTES = 16;
/** Of the HMAC of a host; without the key, nobody can search for another name that has the same. */
const HOST_BYTES = 8;
/** Half of the HMAC, which is what RFC 2104, section 5, asks for at least. */
const MAC_BYTES = 16;
const HEAD_BYTES = 1 + NAME_BYTES + ID_BYTES;
const HEAD_BYTES_BY_VERSION = new Map<number | undefined, number>([
  [VERSION, HEAD_BYTES],
  [VERSION_WITH_HOST, HEAD_BYTES + HOST_BYTES],
]);
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
 * Format: a prefix, and in base64url: 1 byte version, 4 bytes name of the key, 16 bytes id, in version 2 the MAC of the host (8 bytes), 16 bytes MAC,
 * the target in UTF-8.
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
    return this.read(purpose, token)?.uuid;
  }

  /**
   * The token of a link that leads to a URL, in the thing with this UUID; undefined when the URL is too long for a link.
   *
   * @param host the host that the link names as its own; absent: none
   */
  signTarget({ uuid, url }: SignedTarget, host?: string): string | undefined {
    const target = Buffer.from(url, 'utf8');
    return target.length > MAX_TARGET_BYTES ? undefined : this.tokenOf('click', uuid, target, host);
  }

  /**
   * Where a link leads that a token was signed for; undefined when it is none of ours.
   *
   * @param host the host at which it was followed; absent: one that no link names
   */
  verifyTarget(token: string, host?: string): FollowedTarget | undefined {
    return this.read('click', token, host);
  }

  private tokenOf(purpose: LinkPurpose | 'click', uuid: string, rest: Buffer, host?: string): string {
    const key = this.keys[0]!;
    const id = Buffer.from(uuid.replaceAll('-', ''), 'hex');
    const [version, hostMac] =
      host === undefined ? [VERSION, NOTHING] : [VERSION_WITH_HOST, macOfHost(key, id, host)];
    const head = Buffer.concat([Buffer.of(version), key.name, id, hostMac]);
    const mac = macOf(key, purpose, head, rest);
    return SECRET_PREFIXES[purpose] + Buffer.concat([head, mac, rest]).toString('base64url');
  }

  /** What a token that is ours holds; a link without a target has an empty one. */
  private read(purpose: LinkPurpose | 'click', token: string, host = ''): FollowedTarget | undefined {
    const parts = partsOf(SECRET_PREFIXES[purpose], token);
    if (parts === undefined) return undefined;
    const { head, mac, rest } = parts;
    const key = this.keys.find(
      (known) =>
        known.name.equals(head.subarray(1, 1 + NAME_BYTES)) &&
        timingSafeEqual(macOf(known, purpose, head, rest), mac),
    );
    if (key === undefined) return undefined;
    const id = head.subarray(1 + NAME_BYTES, HEAD_BYTES);
    const namesHost = head.subarray(HEAD_BYTES).equals(macOfHost(key, id, host));
    return { uuid: uuidOf(id), url: rest.toString('utf8'), namesHost };
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

/** What a link holds of the host that it names; different for each email. */
function macOfHost(key: LinkKey, id: Buffer, host: string): Buffer {
  return macOf(key, 'host', id, Buffer.from(host, 'utf8')).subarray(0, HOST_BYTES);
}

interface TokenParts {
  readonly head: Buffer;
  readonly mac: Buffer;
  readonly rest: Buffer;
}

/** Node decodes several texts to the same bytes; only the canonical one is accepted. */
function partsOf(prefix: string, token: string): TokenParts | undefined {
  if (!token.startsWith(prefix)) return undefined;
  const encoded = token.slice(prefix.length);
  const bytes = Buffer.from(encoded, 'base64url');
  const headBytes = HEAD_BYTES_BY_VERSION.get(bytes[0]);
  if (headBytes === undefined) return undefined;
  const min = headBytes + MAC_BYTES;
  if (bytes.length < min || bytes.toString('base64url') !== encoded) return undefined;
  return {
    head: bytes.subarray(0, headBytes),
    mac: bytes.subarray(headBytes, min),
    rest: bytes.subarray(min),
  };
}

function uuidOf(id: Buffer): string {
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

import { withoutTrailing } from '@posthorn/kernel';
import { abbreviated } from '../abbreviated.ts';
import { faultInSpelling } from './record-spelling.ts';

/** A key that a DKIM record must publish. */
export interface PublishedKey {
  readonly algorithm: 'rsa' | 'ed25519';
  /** Base64, as in the `p` tag of the record. */
  readonly publicKey: string;
}

/** A SubjectPublicKeyInfo of a 2048-bit RSA key is a header of this length and an RSAPublicKey, which RFC 6376 also permits as `p`. */
const RSA_HEADER_BYTES = 24;

const NO_TAG_LIST = 'is not a list of `name=value` parts with a semicolon between them, each name once';

/** Of a wrong value, in a sentence. */
const MAX_SHOWN = 40;

/** The record that publishes a key (RFC 6376, section 3.6.1; RFC 8463, section 4). */
export function dkimRecord({ algorithm, publicKey }: PublishedKey): string {
  return `v=DKIM1; k=${algorithm}; p=${publicKey}`;
}

/**
 * Why a record does not publish a key, as a predicate ("has no `p`"); undefined when it does. As lenient as receivers are about white
 * space, the order of tags, unknown tags and the case of values (RFC 6376, section 3.6.1).
 */
export function faultInDkimRecord(record: string, key: PublishedKey): string | undefined {
  const tags = parseTags(record);
  const fault = tags === undefined ? NO_TAG_LIST : faultInTags(tags, key);
  return fault === undefined ? undefined : (faultInSpelling(record) ?? fault);
}

/** Whether a record is meant to be a DKIM key, however wrong it is. */
export function isMeantAsDkim(record: string): boolean {
  return /dkim1|\bk ?= ?(?:rsa|ed25519)|\bp ?= ?[a-z0-9+/]{20}|MII[A-Z]/i.test(record);
}

/** Whether receivers ignore a key because its owner is only testing DKIM (RFC 6376, section 3.6.1, `t=y`). */
export function isTesting(record: string): boolean {
  return itemsOf(parseTags(record)?.get('t')).includes('y');
}

/** Undefined when it is not a tag list (RFC 6376, section 3.2): a part without `=`, or a duplicate tag. */
function parseTags(record: string): Map<string, string> | undefined {
  const tags = new Map<string, string>();
  const parts = record.split(';').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  for (const part of parts) {
    const [, name, value] = /^([A-Za-z]\w*)\s*=(.*)$/s.exec(part) ?? [];
    if (name === undefined || tags.has(name)) return undefined;
    tags.set(name, value!.trimStart());
  }
  return tags;
}

function faultInTags(tags: ReadonlyMap<string, string>, key: PublishedKey): string | undefined {
  const published = tags.get('p');
  if (published === undefined) return 'has no `p`, which holds the key';
  return (
    faultInVersion(tags) ??
    faultInAlgorithm(tags, key.algorithm) ??
    faultInKey(published, key) ??
    faultInUse(tags)
  );
}

function faultInVersion(tags: ReadonlyMap<string, string>): string | undefined {
  const version = tags.get('v');
  if (version === undefined) return undefined; // recommended, not required
  if (version !== 'DKIM1')
    return `begins with \`v=${abbreviated(version, MAX_SHOWN)}\`; it must be \`v=DKIM1\``;
  return [...tags.keys()][0] === 'v' ? undefined : 'does not begin with `v=DKIM1`';
}

function faultInAlgorithm(
  tags: ReadonlyMap<string, string>,
  algorithm: PublishedKey['algorithm'],
): string | undefined {
  const found = tags.get('k') ?? 'rsa';
  return found.toLowerCase() === algorithm
    ? undefined
    : `has \`k=${abbreviated(found, MAX_SHOWN)}\`; it must be \`k=${algorithm}\``;
}

function faultInKey(found: string, key: PublishedKey): string | undefined {
  const published = withoutPadding(found.replaceAll(/\s/g, ''));
  if (published === '') return 'has an empty `p`, which says that the key is revoked';
  if (acceptedForms(key).includes(published)) return undefined;
  return key.publicKey.startsWith(published)
    ? 'has a `p` that is cut short; enter all of the value in one record, in several strings if your provider asks for that'
    : 'publishes another key';
}

function acceptedForms({ algorithm, publicKey }: PublishedKey): string[] {
  if (algorithm === 'ed25519') return [withoutPadding(publicKey)];
  const bare = Buffer.from(publicKey, 'base64').subarray(RSA_HEADER_BYTES).toString('base64');
  return [withoutPadding(publicKey), withoutPadding(bare)];
}

function withoutPadding(base64: string): string {
  return withoutTrailing(base64, '=');
}

function faultInUse(tags: ReadonlyMap<string, string>): string | undefined {
  if (tags.has('h') && !itemsOf(tags.get('h')).includes('sha256')) {
    return 'allows hashes (`h`) without `sha256`, with which we sign; remove `h`';
  }
  if (tags.has('s') && !itemsOf(tags.get('s')).some((service) => service === '*' || service === 'email')) {
    return 'is not for email (`s`); remove `s`';
  }
  return undefined;
}

function itemsOf(list: string | undefined): string[] {
  return (list ?? '').split(':').map((word) => word.trim().toLowerCase());
}

import { createPrivateKey, hash, type KeyObject, sign } from 'node:crypto';
import type { DkimAlgorithm } from '../dkim-keys.ts';
import { RsaThreads } from './rsa-threads.ts';
import { type RawField, readHead, relaxedBody, relaxedField } from './relaxed.ts';

/** A key with which a domain signs; its public key is published at `<selector>._domainkey.<domain>`. */
export interface DkimSigner {
  readonly algorithm: DkimAlgorithm;
  /** In lower case and punycode. */
  readonly domain: string;
  readonly selector: string;
  /** Parsed in advance: parsing takes three times as long as signing. */
  readonly privateKey: KeyObject;
}

/**
 * The fields that readers see, that they and programs act on, or that determine how the body is parsed. Each is signed once more than it
 * occurs (oversigning; RFC 6376, sections 5.4.2 and 8.15), so that none can be added, changed or removed.
 */
const SIGNED_FIELDS: readonly string[] = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'reply-to',
  'mime-version',
  'content-type',
  'content-transfer-encoding',
];
/**
 * The others, signed only if present: groups and mailing lists (and relays, the last) add their own when they pass on an email that has none, and a broken
 * signature lets it fail DMARC.
 */
const OPTIONAL_FIELDS: readonly string[] = ['list-unsubscribe', 'list-unsubscribe-post', 'feedback-id'];

const LINE = 76;
const rsaThreads = new RsaThreads();

/** The private key of a domain, for signing. @param pkcs8 in DER @throws what OpenSSL says when it is none */
export function parseDkimKey(pkcs8: Buffer): KeyObject {
  return createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
}

/**
 * Prepends a signature of each signer, in their order (DKIM, RFC 6376 and RFC 8463; relaxed/relaxed). It is deterministic. The body is
 * hashed once; RSA signatures are made in separate threads.
 *
 * @param message its lines must end in CRLF, and an empty one must separate head and body
 * @param signedAt the time in the signature, in whole seconds; a time of the email, so that every attempt gives the same signature
 * @returns the message itself when there are no signers
 */
export async function signEmail(
  message: Buffer,
  signers: readonly DkimSigner[],
  signedAt: Date,
): Promise<Buffer> {
  if (signers.length === 0) return message;
  const { fields, bodyStart } = readHead(message);
  const what = {
    bodyHash: hash('sha256', relaxedBody(message.subarray(bodyStart)), 'base64'),
    unixSeconds: Math.floor(signedAt.getTime() / 1_000),
    ...fieldsToSign(fields),
  };
  const signatures = await Promise.all(signers.map((signer) => signatureField(what, signer)));
  return Buffer.concat([Buffer.from(signatures.join(''), 'latin1'), message]);
}

interface WhatIsSigned {
  /** For `h`. */
  readonly names: readonly string[];
  /** In the relaxed form, a CRLF behind each. */
  readonly canonical: string;
  readonly bodyHash: string;
  readonly unixSeconds: number;
}

function fieldsToSign(fields: readonly RawField[]): Pick<WhatIsSigned, 'names' | 'canonical'> {
  const names: string[] = [];
  let canonical = '';
  const ofName = Map.groupBy(fields, ({ name }) => name);
  for (const name of [...SIGNED_FIELDS, ...OPTIONAL_FIELDS.filter((field) => ofName.has(field))]) {
    // RFC 6376, section 5.4.2: of several the last comes first. The name once more stands for none.
    for (const field of ofName.get(name)?.reverse() ?? []) {
      names.push(name);
      canonical += `${relaxedField(field)}\r\n`;
    }
    names.push(name);
  }
  return { names, canonical };
}

/** The field `DKIM-Signature`, with its CRLF. */
async function signatureField(what: WhatIsSigned, signer: DkimSigner): Promise<string> {
  const { algorithm, domain, selector } = signer;
  const { names, bodyHash, unixSeconds } = what;
  const head =
    `DKIM-Signature: v=1; a=${algorithm}-sha256; c=relaxed/relaxed;\r\n` +
    ` d=${domain};\r\n s=${selector}; t=${unixSeconds};\r\n` +
    ` h=${foldedList(names)};\r\n bh=${bodyHash};\r\n b=`;
  // RFC 6376, section 3.7: itself last, with an empty `b` and no CRLF.
  const text = what.canonical + relaxedField({ name: 'dkim-signature', raw: head });
  return `${head}${folded(await signatureOf(text, signer))}\r\n`;
}

/** Ed25519 is so quick that going to another thread would cost more; it signs the hash (RFC 8463, section 3). @param text bytes (latin1) @returns base64 */
function signatureOf(text: string, { algorithm, privateKey }: DkimSigner): Promise<string> | string {
  return algorithm === 'rsa'
    ? rsaThreads.sign(text, privateKey)
    : sign(null, hash('sha256', Buffer.from(text, 'latin1'), 'buffer'), privateKey).toString('base64');
}

/** Names with colons between them, in lines that are not too long. */
function foldedList(names: readonly string[]): string {
  let text = '';
  let column = ' h='.length;
  for (const [index, name] of names.entries()) {
    const piece = index === 0 ? name : `:${name}`;
    if (column + piece.length > LINE) {
      text += '\r\n ';
      column = 1;
    }
    text += piece;
    column += piece.length;
  }
  return text;
}

/** The first line has ` b=` before it already. */
function folded(base64: string): string {
  const lines = base64.match(/.{1,72}/g) ?? [];
  return lines.join('\r\n ');
}

import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/** The signature algorithms: RSA, which every receiver checks (RFC 6376), and Ed25519 (RFC 8463), which some do. */
export type DkimAlgorithm = 'rsa' | 'ed25519';

/** RFC 8301, section 3.2: signers should use at least this; longer keys do not fit into one DNS datagram. */
const RSA_BITS = 2048;
/** The length of the key at the end of a SubjectPublicKeyInfo (RFC 8410, section 4). */
const ED25519_BYTES = 32;

export interface DkimKeyPair {
  readonly algorithm: DkimAlgorithm;
  /** As the `p` of a DNS record has it: base64. */
  readonly publicKey: string;
  /** PKCS #8 in DER; a secret. */
  readonly privateKey: Buffer;
}

/** Makes a pair of keys for signing emails, in a thread: an RSA key takes some hundred milliseconds. */
export async function newDkimKeyPair(algorithm: DkimAlgorithm): Promise<DkimKeyPair> {
  const publicKeyEncoding = { type: 'spki', format: 'der' } as const;
  const privateKeyEncoding = { type: 'pkcs8', format: 'der' } as const;
  if (algorithm === 'rsa') {
    const options = { modulusLength: RSA_BITS, publicKeyEncoding, privateKeyEncoding };
    const { publicKey, privateKey } = await generate('rsa', options);
    return { algorithm, publicKey: publicKey.toString('base64'), privateKey };
  }
  const { publicKey, privateKey } = await generate('ed25519', { publicKeyEncoding, privateKeyEncoding });
  // RFC 8463, section 4.2: the bare key, not the structure around it.
  return { algorithm, publicKey: publicKey.subarray(-ED25519_BYTES).toString('base64'), privateKey };
}

import { type KeyObject, sign } from 'node:crypto';

/** A group of texts to sign. Keys are transferred once, because many texts share one. */
export interface RsaTask {
  readonly keys: readonly KeyObject[];
  /** Texts of bytes (latin1), each with the number of its key. */
  readonly texts: readonly (readonly [text: string, key: number])[];
}

/** A signature in base64 (a small buffer would be copied with the whole pool that it is cut from), or why there is none. */
export type RsaResult = { readonly signature: string } | { readonly failure: string };

/** Signs each text (RSASSA-PKCS1-v1_5 with SHA-256, RFC 8017, section 8.2). A failure does not affect the others. */
export default function signAll({ keys, texts }: RsaTask): RsaResult[] {
  return texts.map(([text, key]) => {
    try {
      return { signature: sign('sha256', Buffer.from(text, 'latin1'), keys[key]!).toString('base64') };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  });
}

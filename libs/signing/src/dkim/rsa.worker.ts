import { type KeyObject, sign } from 'node:crypto';

/** What is to be signed. */
export interface RsaTask {
  readonly data: Uint8Array;
  readonly privateKey: KeyObject;
}

export type RsaResult = { readonly signature: Uint8Array } | { readonly failure: string };

/** Signs each (RSASSA-PKCS1-v1_5 with SHA-256, RFC 8017, section 8.2). One that cannot be signed costs the others nothing. */
export default function signAll(tasks: readonly RsaTask[]): RsaResult[] {
  return tasks.map(({ data, privateKey }) => {
    try {
      return { signature: sign('sha256', data, privateKey) };
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  });
}

import { hash } from 'node:crypto';

/** The SHA-256 of canonical JSON, by which payloads with the same idempotency key are compared. */
export function fingerprint(canonicalJson: string): Buffer {
  return hash('sha256', canonicalJson, 'buffer');
}

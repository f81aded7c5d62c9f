import { hash } from 'node:crypto';

/** By which two payloads under one idempotency key are compared: the SHA-256 of their canonical JSON. */
export function fingerprint(canonicalJson: string): Buffer {
  return hash('sha256', canonicalJson, 'buffer');
}

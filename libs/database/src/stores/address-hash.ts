import { hash } from 'node:crypto';

/** SHA-256 of an address, ignoring case: so do most mail servers, and an attacker could use every spelling. */
export function addressHash(address: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hash('sha256', address.toLowerCase(), 'buffer'));
}

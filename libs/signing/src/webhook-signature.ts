import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** What one attempt to deliver an event is signed by, beside the token. */
export interface SignedMessage {
  /** The same at every attempt; printable ASCII without a dot. */
  readonly id: string;
  /** When this attempt was signed, in seconds since 1970. */
  readonly unixSeconds: number;
  /** The very bytes that are posted. */
  readonly body: Uint8Array;
}

/**
 * A token as it signs: its UTF-8 bytes are the key, the whole of it, prefix and all. Made once and kept, for Node makes it anew for each
 * signature from a text, which can cost several times what signing does.
 */
export function webhookKey(token: string): KeyObject {
  return createSecretKey(token, 'utf8');
}

/**
 * The value of `X-Service-Signature`: HMAC-SHA-256 of a body in lower-case hexadecimal.
 *
 * @param key see {@link webhookKey}
 */
export function signBody(body: Uint8Array, key: KeyObject): string {
  return createHmac('sha256', key).update(body).digest('hex');
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0, https://www.standardwebhooks.com): one signature a key, separated by
 * spaces, so that a receiver which knows any of their tokens is satisfied while one is changed. What is signed is id, time and body
 * together, so an old message cannot be passed off as a new one.
 *
 * @param keys see {@link webhookKey}; the newest first
 */
export function signMessage(message: SignedMessage, keys: readonly KeyObject[]): string {
  const head = `${message.id}.${message.unixSeconds}.`;
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(head).update(message.body).digest('base64')}`)
    .join(' ');
}

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** The signed data of an attempt to deliver an event. */
export interface SignedMessage {
  /** The same at every attempt; printable ASCII without a dot. */
  readonly id: string;
  /** When this attempt was signed, in seconds since 1970. */
  readonly unixSeconds: number;
  /** The bytes that are posted. */
  readonly body: Uint8Array;
}

/**
 * The key of a token: the UTF-8 bytes of the whole token, including its prefix. It should be kept: from a text, Node would create it for each
 * signature, which can cost several times as much as signing.
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
 * The value of `webhook-signature` (Standard Webhooks 1.0, https://www.standardwebhooks.com): one signature per key, separated by
 * spaces, so that receivers can verify with either token during a rotation. The signature covers id, time and body, so that an old
 * message cannot be replayed as a new one.
 *
 * @param keys see {@link webhookKey}; the newest first
 */
export function signMessage(message: SignedMessage, keys: readonly KeyObject[]): string {
  const head = `${message.id}.${message.unixSeconds}.`;
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(head).update(message.body).digest('base64')}`)
    .join(' ');
}

import { createHmac } from 'node:crypto';

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
 * The value of `X-Service-Signature`: HMAC-SHA-256 of a body in lower-case hexadecimal.
 *
 * @param token the whole of it, prefix and all; its UTF-8 bytes are the key
 */
export function signBody(body: Uint8Array, token: string): string {
  return createHmac('sha256', token).update(body).digest('hex');
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0, https://www.standardwebhooks.com): one signature a token, separated by
 * spaces, so that a receiver which knows any of them is satisfied while a token is changed. What is signed is id, time and body
 * together, so an old message cannot be passed off as a new one.
 *
 * @param tokens each as in {@link signBody}; the newest first
 */
export function signMessage(message: SignedMessage, tokens: readonly string[]): string {
  const head = `${message.id}.${message.unixSeconds}.`;
  return tokens
    .map((token) => `v1,${createHmac('sha256', token).update(head).update(message.body).digest('base64')}`)
    .join(' ');
}

import type { PostFailure } from '@posthorn/domain';

/** One POST. */
export interface PostRequest {
  readonly url: string;
  /** All of them but `host` and `content-length`; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent byte for byte. */
  readonly body: Uint8Array;
  /** How long everything may take together: name, connection, TLS, request and answer. */
  readonly deadlineMs: number;
}

interface Observed {
  /** From the call to the result. */
  readonly durationMs: number;
  /** The IP address that the connection led to, when there was one. */
  readonly address?: string;
}

/** A status line and header fields came in time; whatever the body did after them. */
export interface PostAnswer extends Observed {
  readonly kind: 'answered';
  /** As the status line has it. */
  readonly status: number;
  /** By names in lower case: a bounded number of them, each bounded, and fit to be kept and shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** The field `Retry-After`, if there was one. */
  readonly retryAfter?: string;
  /** The beginning of the body as text: at most 4 KiB, fit to be kept and shown. */
  readonly body: string;
}

/** What became of a POST. */
export type PostResult = PostAnswer | (PostFailure & Observed);

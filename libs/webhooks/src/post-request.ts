import type { PostFailure } from '@posthorn/domain';

/** One POST. */
export interface PostRequest {
  readonly url: string;
  /** All headers except `host` and `content-length`; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sent byte for byte. */
  readonly body: Uint8Array;
  /** Total time for name look-up, connection, TLS, request and response. */
  readonly deadlineMs: number;
}

interface Timed {
  /** From the call to the result. */
  readonly durationMs: number;
}

/** The response header was received in time, whatever became of the body. */
export interface PostAnswer extends Timed {
  readonly kind: 'answered';
  /** The status code. */
  readonly status: number;
  /** By lower-case name; bounded in number and length, and safe to store and show. */
  readonly headers: Readonly<Record<string, string>>;
  /** The field `Retry-After`, if there was one. */
  readonly retryAfter?: string;
  /** The beginning of the body as text: at most 4 KiB, safe to store and show. */
  readonly body: string;
}

export type PostResult = PostAnswer | (PostFailure & Timed);

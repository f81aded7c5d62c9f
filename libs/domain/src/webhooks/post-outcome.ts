/** What a POST to a receiver failed of, by what is to be looked at. */
export const POST_ERROR_CLASSES = {
  dns: 'the name has no address, or its name servers did not say',
  blocked: 'the URL leads to where Posthorn must not post',
  connect: 'no connection, or it broke before an answer began',
  tls: 'the connection could not be made secure',
  timeout: 'no answer within the deadline',
  protocol: 'the response was not HTTP',
  http: 'an answer with a status other than 2xx',
} as const;

export type PostErrorClass = keyof typeof POST_ERROR_CLASSES;

/** A POST without an answer. */
export type PostFailure =
  /** The receiver's doing, as far as can be known; `reason` is a sentence for the people of its workspace. */
  | {
      readonly kind: 'failed';
      readonly errorClass: Exclude<PostErrorClass, 'http'>;
      readonly reason: string;
    }
  /** Our own: no name server, no file descriptor, no network. It says nothing about the receiver; `reason` is for operators. */
  | { readonly kind: 'ours'; readonly reason: string };

/** What became of one POST, so far as it decides anything. */
export type PostOutcome =
  | {
      readonly kind: 'answered';
      /** As the status line has it. */
      readonly status: number;
      /** The field `Retry-After`, as it came. */
      readonly retryAfter?: string;
    }
  | PostFailure;

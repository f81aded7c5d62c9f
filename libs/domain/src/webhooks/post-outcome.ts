/** The classes of errors of a POST to a receiver, by what to investigate. */
export const POST_ERROR_CLASSES = {
  dns: 'the name has no address, or its name servers did not say',
  blocked: 'the URL resolves to an address that Posthorn must not post to',
  connect: 'no connection, or it broke before an answer began',
  tls: 'the TLS handshake failed',
  timeout: 'no answer within the deadline',
  protocol: 'the response was not HTTP',
  http: 'an answer with a status other than 2xx',
} as const;

export type PostErrorClass = keyof typeof POST_ERROR_CLASSES;

/** The failure of a POST without a response. */
export type PostFailure =
  /** Attributed to the receiver; `reason` is a sentence for the users of its workspace. */
  | {
      readonly kind: 'failed';
      readonly errorClass: Exclude<PostErrorClass, 'http'>;
      readonly reason: string;
    }
  /** Caused by this machine: no name server, no file descriptor, no network; `reason` is for operators. */
  | { readonly kind: 'ours'; readonly reason: string };

/** The outcome of a POST, as far as it matters for the verdict. */
export type PostOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The field `Retry-After`, unparsed. */
      readonly retryAfter?: string;
    }
  | PostFailure;

/** The reason phrases of the answers that the HTTP interface gives (RFC 9110, section 15). */
export const REASON_PHRASES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

export type ErrorStatus = keyof typeof REASON_PHRASES;

/** The error body of the HTTP interface (F8). */
export interface ErrorBody {
  readonly statusCode: number;
  readonly error: string;
  readonly message: string;
  readonly allowedEmails?: string[];
  readonly allowedDomains?: string[];
  readonly docsUrl?: string;
}

export interface RefusalDetails {
  readonly allowedEmails?: string[];
  readonly allowedDomains?: string[];
  /** The name of the page that explains this error; the gateway turns it into `docsUrl`. */
  readonly docsPage?: string;
  /** After how many seconds it is worth asking again (the `Retry-After` header). */
  readonly retryAfterSeconds?: number;
  /** The scheme that a caller authenticates with (the `WWW-Authenticate` header of a 401; RFC 9110, section 11.6.1). */
  readonly challenge?: string;
}

/** An error response that is meant for the caller: its message is shown verbatim. Any other error is a fault of ours and is answered without detail. */
export class Refusal extends Error {
  constructor(
    readonly statusCode: ErrorStatus,
    /** One sentence that names the field and says how to fix it. */
    message: string,
    readonly details: RefusalDetails = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'Refusal';
  }
}

/** A startup error that the operator can fix: the message says how, so it is shown without a stack trace. */
export class CannotStart extends Error {}

import type { Attachment } from './attachment.ts';
import type { JsonObject } from './canonical-json.ts';
import type { CopiedEmail } from './copied-email.ts';
import type { Mailbox } from './mailbox.ts';

/** Fields of every draft; sizes, types and addresses have been validated. */
interface CommonDraft {
  readonly to: Mailbox;
  /** Whether links are rewritten so that clicks are recorded. */
  readonly trackClicks: boolean;
  /** Whether an image is added so that opens are recorded. */
  readonly trackOpens: boolean;
  /** Whether it has an unsubscribe link and header; absent: as its template says; a raw email then has none. */
  readonly unsubscribe?: boolean | undefined;
  /** Absent: none. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** The group under which analytics are counted. */
  readonly groupBy?: string | undefined;
  /** A well-formed time (RFC 3339), as the caller wrote it; whether it is in the permitted range is checked later. */
  readonly sendAt?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The email that an operator sends again by this one; absent: none. */
  readonly copyOf?: CopiedEmail | undefined;
  /** The request without its idempotency key: two requests are the same when their canonical JSON is. */
  readonly fingerprintSource: JsonObject;
}

/** An email whose HTML the caller gave. */
export interface RawEmailDraft extends CommonDraft {
  readonly type: 'raw';
  readonly from: Mailbox;
  readonly subject: string;
  readonly html: string;
  /** The plain text; absent: generated from the HTML. */
  readonly text?: string | undefined;
  readonly previewText?: string | undefined;
  /** At most 5; empty when the caller gave none. */
  readonly replyTo: readonly Mailbox[];
  /** Properties to store for the contact with the `to` address. */
  readonly contactProperties?: JsonObject | undefined;
}

/** An email made from a template of the workspace. */
export interface TemplatedEmailDraft extends CommonDraft {
  readonly type: 'templated';
  /** The name of the template. */
  readonly template: string;
  /** Empty when the caller gave none. */
  readonly variables: JsonObject;
  /** At most 5; absent: the template's. */
  readonly replyTo?: readonly Mailbox[] | undefined;
}

/** An email to be accepted: validated as far as possible without a look-up or the time. */
export type EmailDraft = RawEmailDraft | TemplatedEmailDraft;

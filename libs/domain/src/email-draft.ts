import type { JsonObject } from './canonical-json.ts';
import type { CopiedEmail } from './copied-email.ts';
import type { Mailbox } from './mailbox.ts';

/** What every email that a caller asks for has; sizes, types and addresses are already judged. */
interface DraftTraits {
  readonly to: Mailbox;
  /** Whether links are rewritten so that a click is recorded. */
  readonly trackClicks: boolean;
  /** Whether an image is added so that an opening is recorded. */
  readonly trackOpens: boolean;
  /** Whether it carries a way to unsubscribe; absent: as its template says, and a raw one does not. */
  readonly unsubscribe?: boolean | undefined;
  /** Under which analytics are grouped. */
  readonly groupBy?: string | undefined;
  /** A well-formed time (RFC 3339), as the caller wrote it; whether it is possible depends on when it is asked. */
  readonly sendAt?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** The email that an operator sends again with it; absent: none. */
  readonly copyOf?: CopiedEmail | undefined;
  /** The request without its idempotency key: two requests are the same when the canonical JSON of this is. */
  readonly fingerprintSource: JsonObject;
}

/** An email whose HTML the caller gave. */
export interface RawEmailDraft extends DraftTraits {
  readonly type: 'raw';
  readonly from: Mailbox;
  readonly subject: string;
  readonly html: string;
  /** The plain text; absent: to be made from the HTML. */
  readonly text?: string | undefined;
  readonly previewText?: string | undefined;
  /** At most 5; empty when the caller gave none. */
  readonly replyTo: readonly Mailbox[];
  /** What is to be kept of the contact with the `to` address. */
  readonly contactProperties?: JsonObject | undefined;
}

/** An email made from a template of the workspace. */
export interface TemplatedEmailDraft extends DraftTraits {
  readonly type: 'templated';
  /** The name of the template. */
  readonly template: string;
  /** Empty when the caller gave none. */
  readonly variables: JsonObject;
  /** At most 5; absent: the template's own are used. */
  readonly replyTo?: readonly Mailbox[] | undefined;
}

/** One email that a caller asks for: its shape is sound, nothing that needs a look-up or the time is judged yet. */
export type EmailDraft = RawEmailDraft | TemplatedEmailDraft;

import type { EmailId, IdentityId, TemplateVersionId, WorkspaceId } from '@posthorn/kernel';
import { ACCEPT_COLUMNS, ACCEPT_KEYED_COLUMNS } from '../../sql/accept.ts';
import { columnsOf, type Row } from '../../sql/binary-array.ts';
import {
  type LaneId,
  type Mailbox,
  type RawEmailDraft,
  startOfMonth,
  type TemplatedEmailDraft,
} from '@posthorn/domain';

/** The fields of every email to accept, beside those of its draft. */
interface AcceptableTraits {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly status: 'SENT' | 'SCHEDULED';
  readonly from: Mailbox;
  readonly fromDomain: string;
  readonly replyTo: readonly Mailbox[];
  readonly messageId: string;
  /** Whether it carries an unsubscribe link. */
  readonly unsubscribe: boolean;
  /** Null: now. */
  readonly sendAt: Date | null;
  readonly acceptedAt: Date;
  readonly laneId: LaneId;
  /** About how much memory sending it takes. */
  readonly bytes: number;
  /** About how many bytes are stored of its content: the HTML and text or the variables of its template, and attachments. */
  readonly bytesToAccept: number;
  readonly idempotency?: EmailClaim | undefined;
  /** That of the request; absent: tracing is off. */
  readonly traceparent?: string | undefined;
}

/** The fields of a draft that become the claim of its idempotency key. */
type OfTheClaim = 'idempotencyKey' | 'fingerprintSource';

export interface AcceptableRawEmail
  extends AcceptableTraits, Omit<RawEmailDraft, OfTheClaim | keyof AcceptableTraits> {}

export interface AcceptableTemplatedEmail
  extends AcceptableTraits, Omit<TemplatedEmailDraft, OfTheClaim | keyof AcceptableTraits> {
  /** The version that it is pinned to. */
  readonly templateVersionId: TemplateVersionId;
}

/** An email that has been validated as far as possible without the database. */
export type AcceptableEmail = AcceptableRawEmail | AcceptableTemplatedEmail;

/** A request to take an idempotency key. */
export interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 of the payload. */
  readonly fingerprint: Buffer;
  readonly expiresAt: Date;
}

/** The key of one email. */
export interface EmailClaim extends IdempotencyClaim {
  /** The answer to store, if the email is accepted. */
  readonly answer: string;
}

/** The key of a call for several emails. */
interface CallClaim extends IdempotencyClaim {
  /** Computes the answer to store, once the emails have been decided; undefined: the call is refused and does not use up its key. */
  readonly answerFor: (outcomes: readonly AcceptanceOutcome[]) => string | undefined;
}

/** The emails of one call. */
export interface AcceptableCall {
  readonly workspaceId: WorkspaceId;
  readonly emails: readonly AcceptableEmail[];
  readonly idempotency?: CallClaim | undefined;
}

/** What is stored under an idempotency key: the fingerprint of the call that used it, and its answer. */
export interface KnownAnswer {
  readonly fingerprint: Buffer;
  readonly answer: string;
}

/** What a workspace may send from instead of a sender that it may not send from. */
export interface AllowedSenders {
  /** The verified addresses and domains, up to the limit of identities each. */
  readonly addresses: string[];
  readonly domains: string[];
  /** The domain or the address of the refused sender, if the workspace has added it without verifying it. */
  readonly unverified: { readonly id: IdentityId; readonly value: string } | null;
}

/** The outcome of one email. */
export type AcceptanceOutcome =
  | { readonly kind: 'accepted' }
  | ({ readonly kind: 'unverified' } & AllowedSenders)
  | { readonly kind: 'over_limit'; readonly used: number; readonly monthlyLimit: number }
  /** Its key was used before. */
  | ({ readonly kind: 'replayed' } & KnownAnswer)
  /** Its key was freed while others were decided: decide it again. */
  | { readonly kind: 'contended' };

export type CallOutcome =
  /** All emails were decided; `answer` is now stored under the key of the call. */
  | {
      readonly kind: 'decided';
      readonly emails: readonly AcceptanceOutcome[];
      readonly answer?: string | undefined;
    }
  /** The call's key was used before. */
  | ({ readonly kind: 'replayed' } & KnownAnswer)
  /** Another call has just taken or given back a key that this one needs: repeat the call. */
  | { readonly kind: 'retry' }
  /** It failed, unlike others of its group. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** The month whose limit an email counts towards. */
export function monthOf({ acceptedAt }: AcceptableEmail): number {
  return startOfMonth(acceptedAt).getTime();
}

/** An email with its number, and the key of its whole call. */
export interface NumberedEmail {
  readonly n: number;
  readonly email: AcceptableEmail;
  readonly callKey: string | undefined;
}

/** Numbered emails, as ACCEPT_EMAILS takes them. */
export function emailColumns(emails: readonly NumberedEmail[]): Buffer[] {
  return columnsOf(ACCEPT_COLUMNS, emails.map(rowOf));
}

/** The same, as ACCEPT_KEYED_EMAILS takes them. */
export function keyedEmailColumns(emails: readonly NumberedEmail[]): Buffer[] {
  return columnsOf(
    ACCEPT_KEYED_COLUMNS,
    emails.map((numbered) => {
      const { fingerprint, answer, expiresAt } = numbered.email.idempotency ?? {};
      return { fingerprint, answer, key_expires_at: expiresAt, ...rowOf(numbered) };
    }),
  );
}

function rowOf({ n, email, callKey }: NumberedEmail): Row<typeof ACCEPT_COLUMNS> {
  const raw = email.type === 'raw' ? email : undefined;
  const templated = email.type === 'templated' ? email : undefined;
  return {
    n,
    id: email.id,
    workspace_id: email.workspaceId,
    type: email.type,
    status: email.status,
    from_address: email.from.address,
    from_name: email.from.name,
    from_domain: email.fromDomain,
    to_address: email.to.address,
    to_name: email.to.name,
    reply_to: email.replyTo.length > 0 ? JSON.stringify(email.replyTo) : undefined,
    subject: raw?.subject,
    template_name: templated?.template,
    template_version_id: templated?.templateVersionId,
    message_id: email.messageId,
    group_by: email.groupBy,
    email_key: email.idempotency?.key,
    call_key: callKey,
    track_clicks: email.trackClicks,
    track_opens: email.trackOpens,
    unsubscribe: email.unsubscribe,
    send_at: email.sendAt,
    accepted_at: email.acceptedAt,
    html: raw?.html,
    text: raw?.text,
    preview_text: raw?.previewText,
    variables: templated && JSON.stringify(templated.variables),
    attachments: email.attachments && JSON.stringify(email.attachments),
    lane_id: email.laneId,
    state: email.sendAt === null ? 'ready' : 'waiting',
    due_at: email.sendAt ?? email.acceptedAt,
    bytes: email.bytes,
    traceparent: email.traceparent,
  };
}

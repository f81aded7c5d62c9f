import { type EmailId, type TemplateVersionId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { ACCEPT_COLUMNS, ACCEPT_KEYED_COLUMNS } from '../sql/accept.ts';
import { columnsOf, type Row } from '../binary-array.ts';
import type { CopiedEmail, JsonObject, LaneId, Mailbox } from '@posthorn/domain';

/** What every accepted email has. */
interface AcceptableTraits {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly status: 'SENT' | 'SCHEDULED';
  readonly from: Mailbox;
  readonly fromDomain: string;
  readonly to: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly messageId: string;
  readonly groupBy?: string | undefined;
  readonly trackClicks: boolean;
  readonly trackOpens: boolean;
  /** Whether it carries a way to unsubscribe. Default: no. */
  readonly unsubscribe?: boolean;
  /** Null: now. */
  readonly sendAt: Date | null;
  readonly acceptedAt: Date;
  readonly laneId: LaneId;
  /** About how much memory sending it takes. */
  readonly bytes: number;
  readonly idempotency?: EmailClaim | undefined;
  /** The place in its trace of what asked for it; absent: traces are off. */
  readonly traceparent?: string | undefined;
  /** The email that an operator sends again with it. */
  readonly copyOf?: CopiedEmail | undefined;
}

/** A raw one. */
export interface AcceptableRawEmail extends AcceptableTraits {
  readonly type: 'raw';
  readonly subject: string;
  readonly html: string;
  readonly text?: string | undefined;
  readonly previewText?: string | undefined;
  /** What is to be kept of the contact with the `to` address. */
  readonly contactProperties?: JsonObject | undefined;
}

interface AcceptableTemplatedEmail extends AcceptableTraits {
  readonly type: 'templated';
  readonly template: string;
  /** The version that it is pinned to. */
  readonly templateVersionId: TemplateVersionId;
  readonly variables: JsonObject;
}

/** An email that is judged as far as it can be without the database. */
export type AcceptableEmail = AcceptableRawEmail | AcceptableTemplatedEmail;

/** A key under which a call wants to be answered. */
interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 of the payload. */
  readonly fingerprint: Buffer;
  readonly expiresAt: Date;
}

/** The key of one email. */
export interface EmailClaim extends IdempotencyClaim {
  /** What the call is answered when it is accepted. */
  readonly answer: string;
}

/** The key of a call for several emails. */
interface CallClaim extends IdempotencyClaim {
  /** What the call is answered, once its emails are judged; undefined: it is refused, and does not use up its key. */
  readonly answerFor: (outcomes: readonly AcceptanceOutcome[]) => string | undefined;
}

/** The emails that one call asks for, which are accepted together. */
export interface AcceptableCall {
  readonly workspaceId: WorkspaceId;
  readonly emails: readonly AcceptableEmail[];
  readonly idempotency?: CallClaim | undefined;
}

/** What a key stands for: the fingerprint of the call that used it, and what that was answered. */
export interface KnownAnswer {
  readonly fingerprint: Buffer;
  readonly answer: string;
}

/** What became of one email. */
export type AcceptanceOutcome =
  | { readonly kind: 'accepted' }
  /** With what the workspace may send from: a hundred of each at most. */
  | { readonly kind: 'unverified'; readonly addresses: string[]; readonly domains: string[] }
  | { readonly kind: 'over_limit'; readonly used: number; readonly monthlyLimit: number }
  /** Its key was used before. */
  | ({ readonly kind: 'replayed' } & KnownAnswer)
  /** Its key came free while others were judged: judge it again. */
  | { readonly kind: 'contended' };

/** What became of a call. */
export type CallOutcome =
  /** Each email was judged; `answer` is what its own key stands for from now on. */
  | {
      readonly kind: 'judged';
      readonly emails: readonly AcceptanceOutcome[];
      readonly answer?: string | undefined;
    }
  /** The call's key was used before. */
  | ({ readonly kind: 'replayed' } & KnownAnswer)
  /** Another call has just taken a key that it wants, or given it back: judge it again. */
  | { readonly kind: 'retry' }
  /** It failed alone, and others of its group did not. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** A claim with a number that identifies its row. */
export interface NumberedClaim {
  readonly n: number;
  readonly workspaceId: WorkspaceId;
  readonly claim: IdempotencyClaim & { readonly answer?: string | undefined };
}

/** Claims, as the statements about keys take them. */
export function claimsAsJson(claims: readonly NumberedClaim[]): string {
  return JSON.stringify(
    claims.map(({ n, workspaceId, claim }) => ({
      n,
      workspace_id: uuidOf(workspaceId),
      key: claim.key,
      fingerprint: claim.fingerprint.toString('hex'),
      // Of a call it is not known before its emails are judged; nobody reads it before the commit.
      answer: claim.answer ?? '',
      expires_at: claim.expiresAt,
    })),
  );
}

/** An email with its number, and the key that its whole call has. */
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
    unsubscribe: email.unsubscribe ?? false,
    send_at: email.sendAt,
    accepted_at: email.acceptedAt,
    html: raw?.html,
    text: raw?.text,
    preview_text: raw?.previewText,
    variables: templated && JSON.stringify(templated.variables),
    lane_id: email.laneId,
    state: email.sendAt === null ? 'ready' : 'waiting',
    due_at: email.sendAt ?? email.acceptedAt,
    bytes: email.bytes,
    traceparent: email.traceparent,
  };
}

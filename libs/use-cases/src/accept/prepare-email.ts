import { hash } from 'node:crypto';
import { type DatabaseClock, newId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import {
  bulkLane,
  canonicalJson,
  domainOf,
  type EmailDraft,
  type JsonObject,
  type LaneId,
  type Mailbox,
  messageIdFor,
  nowLane,
  parseSendAt,
  type RawEmailDraft,
  type TemplatedEmailDraft,
} from '@posthorn/domain';
import type {
  AcceptableEmail,
  AcceptableRawEmail,
  AcceptableTemplatedEmail,
  CurrentTemplate,
  EmailClaim,
} from '@posthorn/database';
import { requireValid } from '../require-valid.ts';
import { faultOfPlaceholders } from '../unsubscribe/unsubscribe-variable.ts';
import { emailAnswer } from './email-answer.ts';

/** How long idempotency keys are kept after the time at which their email is due. */
export const IDEMPOTENCY_KEPT_MS = 30 * 24 * 3_600_000;
/** Memory for an email, as a multiple of the size of its parts: encoding, and converting HTML to text. */
export const WORKING_SPACE_FACTOR = 3;

/** The request that an email comes from. */
export interface Origin {
  readonly workspaceId: WorkspaceId;
  /** Part of a batch: it is sent in the bulk lane. */
  readonly isBulk: boolean;
  /** Undefined: tracing is off. */
  readonly traceparent?: string | undefined;
}

export interface PreparationContext extends Origin {
  readonly clock: DatabaseClock;
}

/** When the email of a draft is due; null: at once. @throws Refusal (400) when `sendAt` is invalid, by the database's time */
export function validateSendAt({ sendAt }: EmailDraft, clock: DatabaseClock): Date | null {
  if (sendAt === undefined) return null;
  return requireValid('sendAt', parseSendAt(sendAt, clock.nowMs())).at ?? null;
}

/**
 * Turns a raw draft into the email to be stored, with its id, Message-ID, lane, time, and the answer for its call.
 *
 * @throws Refusal (400) when the link to unsubscribe would have to be inserted too often
 */
export function prepareRawEmail(
  draft: RawEmailDraft,
  sendAt: Date | null,
  context: PreparationContext,
): AcceptableEmail {
  const { type, from, replyTo, subject, html, text, previewText, contactProperties } = draft;
  const bytes = Buffer.byteLength(html) + Buffer.byteLength(text ?? '') + bytesOfFiles(draft);
  const unsubscribe = carriesUnsubscribe(draft);
  if (unsubscribe) validatePlaceholders({ html, text });
  const email: Prepared<AcceptableRawEmail> = {
    type,
    replyTo,
    subject,
    html,
    text,
    previewText,
    contactProperties,
    ...commonFields(draft, { from, sendAt, bytes, templateBytes: 0, unsubscribe }, context),
  };
  return withIdempotency(draft, email);
}

/** The same for a templated draft, pinned to the current version of its template. */
export function prepareTemplatedEmail(
  draft: TemplatedEmailDraft,
  template: CurrentTemplate,
  sendAt: Date | null,
  context: PreparationContext,
): AcceptableEmail {
  const { type, variables } = draft;
  const { from, bytes: templateBytes } = template;
  const bytes = Buffer.byteLength(JSON.stringify(variables)) + bytesOfFiles(draft);
  const unsubscribe = carriesUnsubscribe(draft, template);
  const email: Prepared<AcceptableTemplatedEmail> = {
    type,
    template: draft.template,
    templateVersionId: template.versionId,
    variables,
    replyTo: draft.replyTo ?? template.replyTo,
    ...commonFields(draft, { from, sendAt, bytes, templateBytes, unsubscribe }, context),
  };
  return withIdempotency(draft, email);
}

/** Whether an email carries an unsubscribe link: the call takes precedence over the template. */
export function carriesUnsubscribe({ unsubscribe }: EmailDraft, template?: CurrentTemplate): boolean {
  return unsubscribe ?? template?.unsubscribe ?? false;
}

function validatePlaceholders(parts: { html: string; text: string | undefined }): void {
  for (const [name, part = ''] of Object.entries(parts)) {
    const fault = faultOfPlaceholders(part);
    if (fault !== undefined) throw new Refusal(400, `\`${name}\` ${fault}`);
  }
}

/** All fields of an email to be stored, those that may be absent too: the compiler finds a field that would be forgotten. */
type Prepared<Email extends AcceptableEmail> = Required<Omit<Email, 'idempotency'>>;

/** What a draft leaves to its template and to the time. */
interface Resolved {
  readonly from: Mailbox;
  readonly sendAt: Date | null;
  /** Size of what the call gave: the parts of the message or the variables, and the attachments in base64. */
  readonly bytes: number;
  /** Size of the parts of its template. */
  readonly templateBytes: number;
  readonly unsubscribe: boolean;
}

function commonFields(
  { to, groupBy, trackClicks, trackOpens, attachments, copyOf }: EmailDraft,
  { from, sendAt, bytes, templateBytes, unsubscribe }: Resolved,
  { workspaceId, clock, isBulk, traceparent }: PreparationContext,
) {
  const acceptedAt = clock.now();
  const id = newId('trs', acceptedAt.getTime());
  const fromDomain = domainOf(from.address);
  const status = sendAt === null ? ('SENT' as const) : ('SCHEDULED' as const);
  return {
    id,
    workspaceId,
    status,
    from,
    fromDomain,
    to,
    groupBy,
    trackClicks,
    trackOpens,
    unsubscribe,
    attachments,
    sendAt,
    acceptedAt,
    traceparent,
    copyOf,
    messageId: messageIdFor(id, fromDomain),
    laneId: laneOf(workspaceId, isBulk || sendAt !== null),
    bytes: (bytes + templateBytes) * WORKING_SPACE_FACTOR,
    bytesToAccept: bytes,
  };
}

function bytesOfFiles({ attachments = [] }: EmailDraft): number {
  return attachments.reduce((sum, { content }) => sum + content.length, 0);
}

function laneOf(workspaceId: WorkspaceId, isBulk: boolean): LaneId {
  return isBulk ? bulkLane(workspaceId) : nowLane(workspaceId);
}

/** Adds the idempotency key of the draft, if it has one. */
function withIdempotency(draft: EmailDraft, email: AcceptableEmail): AcceptableEmail {
  if (draft.idempotencyKey === undefined) return email;
  const idempotency: EmailClaim = {
    key: draft.idempotencyKey,
    fingerprint: fingerprintOf(draft.fingerprintSource),
    answer: emailAnswer(email),
    expiresAt: keyExpiryAfter(email.sendAt ?? email.acceptedAt),
  };
  return { idempotency, ...email };
}

/** When a key expires whose last email is due at this time. */
export function keyExpiryAfter(lastNeededAt: Date): Date {
  return new Date(lastNeededAt.getTime() + IDEMPOTENCY_KEPT_MS);
}

/** Identifies the payload of a call, to recognise repeated calls. */
export function fingerprintOf(payload: JsonObject): Buffer {
  return hash('sha256', canonicalJson(payload), 'buffer');
}

import { type DatabaseClock, newId, type WorkspaceId } from '@posthorn/kernel';
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
import type { AcceptableEmail, CurrentTemplate, EmailClaim } from '@posthorn/database';
import { fingerprint } from '@posthorn/signing';
import { judged } from '../judged.ts';
import { emailAnswer } from './email-answer.ts';

/** For how long after an email's time its keys are kept. */
export const IDEMPOTENCY_KEPT_MS = 30 * 24 * 3_600_000;
/** What a composed message needs beside the parts that it is made of: encoding, and HTML that text is made from. */
const WORKING_SPACE_FACTOR = 3;

/** Who asks, when, and whether for one email or for many. */
export interface PreparationContext {
  readonly workspaceId: WorkspaceId;
  readonly clock: DatabaseClock;
  /** One of many: it leaves by the lane of bulk. */
  readonly isBulk: boolean;
  /** The place in its trace of what asks; undefined: traces are off. */
  readonly traceparent?: string | undefined;
}

/** When the email of a draft is to leave. @throws Refusal (400) when that is not possible at the database's time */
export function judgeSendAt({ sendAt }: EmailDraft, clock: DatabaseClock): Date | null {
  if (sendAt === undefined) return null;
  return judged('sendAt', parseSendAt(sendAt, clock.nowMs())).at ?? null;
}

/** Turns a raw draft into what is written: its id, its Message-ID, its lane and time, and the answer that its call gets. */
export function prepareRawEmail(
  draft: RawEmailDraft,
  sendAt: Date | null,
  context: PreparationContext,
): AcceptableEmail {
  const { type, from, replyTo, subject, html, text, previewText, contactProperties } = draft;
  const bytes = html.length + (text?.length ?? 0);
  return answered(draft, {
    type,
    replyTo,
    subject,
    html,
    text,
    previewText,
    contactProperties,
    ...traitsOf(draft, { from, sendAt, bytes, unsubscribe: carriesUnsubscribe(draft) }, context),
  });
}

/** The same for a templated draft, pinned to the version of its template that is current. */
export function prepareTemplatedEmail(
  draft: TemplatedEmailDraft,
  template: CurrentTemplate,
  sendAt: Date | null,
  context: PreparationContext,
): AcceptableEmail {
  const { type, variables } = draft;
  const bytes = template.bytes + JSON.stringify(variables).length;
  const unsubscribe = carriesUnsubscribe(draft, template);
  return answered(draft, {
    type,
    template: draft.template,
    templateVersionId: template.versionId,
    variables,
    replyTo: draft.replyTo ?? template.replyTo,
    ...traitsOf(draft, { from: template.from, sendAt, bytes, unsubscribe }, context),
  });
}

/** Whether an email carries a way to unsubscribe: what its call says wins over what its template says. */
export function carriesUnsubscribe({ unsubscribe }: EmailDraft, template?: CurrentTemplate): boolean {
  return unsubscribe ?? template?.unsubscribe ?? false;
}

interface Prepared {
  readonly from: Mailbox;
  readonly sendAt: Date | null;
  /** Of the parts that the message is made of. */
  readonly bytes: number;
  readonly unsubscribe: boolean;
}

function traitsOf(
  { to, groupBy, trackClicks, trackOpens, copyOf }: EmailDraft,
  { from, sendAt, bytes, unsubscribe }: Prepared,
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
    sendAt,
    acceptedAt,
    traceparent,
    copyOf,
    messageId: messageIdFor(id, fromDomain),
    laneId: laneOf(workspaceId, isBulk || sendAt !== null),
    bytes: bytes * WORKING_SPACE_FACTOR,
  };
}

function laneOf(workspaceId: WorkspaceId, isBulk: boolean): LaneId {
  return isBulk ? bulkLane(workspaceId) : nowLane(workspaceId);
}

/** Adds the key that the draft's call wants to be answered under. */
function answered(draft: EmailDraft, email: AcceptableEmail): AcceptableEmail {
  if (draft.idempotencyKey === undefined) return email;
  const idempotency: EmailClaim = {
    key: draft.idempotencyKey,
    fingerprint: fingerprintOf(draft.fingerprintSource),
    answer: emailAnswer(email),
    expiresAt: keptUntil(email.sendAt ?? email.acceptedAt),
  };
  return { idempotency, ...email };
}

/** Until when a key is kept whose last email leaves at this time. */
export function keptUntil(lastNeededAt: Date): Date {
  return new Date(lastNeededAt.getTime() + IDEMPOTENCY_KEPT_MS);
}

/** By which a repeated call is known to be the same one. */
export function fingerprintOf(payload: JsonObject): Buffer {
  return fingerprint(canonicalJson(payload));
}

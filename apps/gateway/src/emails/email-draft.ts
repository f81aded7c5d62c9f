import { lookup } from 'mime-types';
import {
  type Attachment,
  type EmailDraft,
  faultInMediaType,
  type JsonObject,
  type Mailbox,
  type RawEmailDraft,
  type TemplatedEmailDraft,
} from '@posthorn/domain';
import { isTemplated } from './validate-email-request.ts';
import type { AttachmentRequest } from './attachment.request.ts';
import type { AnyEmailRequest, RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';
import { mailboxesOf, mailboxOf } from '../validation/mailbox-rules.ts';

/** All fields that a caller can give, those that may be absent too: the compiler finds a field that would be forgotten. */
type Given<Draft extends EmailDraft> = Required<Omit<Draft, 'copyOf'>>;

/** Converts a request that has passed `validateEmailRequest`. */
export function toDraft(request: RawEmailRequest | TemplatedEmailRequest): EmailDraft {
  return isTemplated(request) ? templatedDraft(request) : rawDraft(request);
}

function rawDraft(request: RawEmailRequest): Given<RawEmailDraft> {
  const { subject, html, text, previewText, contactProperties } = request;
  return {
    type: 'raw',
    from: senderOf(request),
    subject,
    html,
    text: text || undefined,
    previewText: previewText || undefined,
    replyTo: replyToOf(request) ?? [],
    contactProperties,
    ...traitsOf(request, { trackOpensByDefault: false }),
  };
}

function templatedDraft(request: TemplatedEmailRequest): Given<TemplatedEmailDraft> {
  const { template, variables = {} } = request;
  return {
    type: 'templated',
    template,
    variables,
    replyTo: replyToOf(request),
    ...traitsOf(request, { trackOpensByDefault: true }),
  };
}

function traitsOf(request: AnyEmailRequest, { trackOpensByDefault }: { trackOpensByDefault: boolean }) {
  const { to, settings, attachments, groupBy, sendAt, idempotencyKey } = request;
  return {
    to: mailboxOf(to),
    trackClicks: settings?.trackClicks ?? true,
    trackOpens: settings?.trackOpens ?? trackOpensByDefault,
    unsubscribe: settings?.unsubscribe,
    attachments:
      attachments === undefined || attachments.length === 0 ? undefined : attachments.map(attachmentOf),
    groupBy,
    sendAt,
    idempotencyKey,
    fingerprintSource: withoutKey(request),
  };
}

function attachmentOf({ filename, content, contentType, contentId }: AttachmentRequest): Attachment {
  return { filename, contentType: contentType ?? typeOfFile(filename), content, contentId };
}

/** By the extension of its name. */
function typeOfFile(filename: string): string {
  const type = lookup(filename);
  return type === false || faultInMediaType(type) !== undefined ? 'application/octet-stream' : type;
}

/** Copies the request only where it has a key, since most have none and accepting is a hot path. */
function withoutKey(request: AnyEmailRequest): JsonObject {
  if (request.idempotencyKey === undefined) return request as unknown as JsonObject;
  const { idempotencyKey: _, ...payload } = request;
  return payload as unknown as JsonObject;
}

/** The sender from `from` and `fromName`. The latter overrides a name in `from`; null removes it. */
export function senderOf({ from, fromName }: { from: string; fromName?: string | null }): Mailbox {
  const { address, name } = mailboxOf(from);
  const shown = fromName === undefined ? name : fromName?.trim();
  return shown === undefined ? { address } : { address, name: shown };
}

function replyToOf({ replyTo }: AnyEmailRequest): Mailbox[] | undefined {
  return replyTo === undefined ? undefined : mailboxesOf(replyTo);
}

import type { EmailDraft, JsonObject, Mailbox, RawEmailDraft, TemplatedEmailDraft } from '@posthorn/domain';
import { RawEmailRequest, type AnyEmailRequest, type TemplatedEmailRequest } from './send-email.request.ts';
import { mailboxOf } from '../validation/mailbox-rules.ts';

/** The draft that a request asks for; the request must have passed `judgeEmailRequest`. */
export function toDraft(request: RawEmailRequest | TemplatedEmailRequest): EmailDraft {
  return request instanceof RawEmailRequest ? rawDraft(request) : templatedDraft(request);
}

function rawDraft(request: RawEmailRequest): RawEmailDraft {
  const { subject, html, text, previewText, contactProperties } = request;
  return {
    type: 'raw',
    ...traitsOf(request, { trackOpensByDefault: false }),
    from: senderOf(request),
    subject,
    html,
    ...(text ? { text } : {}),
    ...(previewText ? { previewText } : {}),
    replyTo: replyToOf(request) ?? [],
    ...(contactProperties === undefined ? {} : { contactProperties }),
  };
}

function templatedDraft(request: TemplatedEmailRequest): TemplatedEmailDraft {
  const replyTo = replyToOf(request);
  return {
    type: 'templated',
    ...traitsOf(request, { trackOpensByDefault: true }),
    template: request.template,
    variables: request.variables ?? {},
    ...(replyTo === undefined ? {} : { replyTo }),
  };
}

function traitsOf(request: AnyEmailRequest, { trackOpensByDefault }: { trackOpensByDefault: boolean }) {
  const { settings, groupBy, sendAt, idempotencyKey } = request;
  return {
    to: mailboxOf(request.to),
    trackClicks: settings?.trackClicks ?? true,
    trackOpens: settings?.trackOpens ?? trackOpensByDefault,
    ...(settings?.unsubscribe === undefined ? {} : { unsubscribe: settings.unsubscribe }),
    ...(groupBy === undefined ? {} : { groupBy }),
    ...(sendAt === undefined ? {} : { sendAt }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    fingerprintSource: withoutKey(request),
  };
}

function withoutKey({ idempotencyKey: _, ...payload }: AnyEmailRequest): JsonObject {
  return payload as unknown as JsonObject;
}

/** The sender out of `from` and `fromName`, which wins over a name in `from`, also when it is null: none. */
export function senderOf({ from, fromName }: { from: string; fromName?: string | null }): Mailbox {
  const { address, name } = mailboxOf(from);
  const shown = fromName === undefined ? name : fromName?.trim();
  return shown === undefined ? { address } : { address, name: shown };
}

function replyToOf({ replyTo }: AnyEmailRequest): Mailbox[] | undefined {
  if (replyTo === undefined) return undefined;
  return mailboxesOf(replyTo);
}

/** One judged mailbox or several. */
export function mailboxesOf(mailboxes: string | readonly string[]): Mailbox[] {
  return (typeof mailboxes === 'string' ? [mailboxes] : mailboxes).map(mailboxOf);
}

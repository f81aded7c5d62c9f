import type { EmailDraft, JsonObject, Mailbox, RawEmailDraft, TemplatedEmailDraft } from '@posthorn/domain';
import { isTemplated } from './judge-email-request.ts';
import type { AnyEmailRequest, RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';
import { mailboxesOf, mailboxOf } from '../validation/mailbox-rules.ts';

/** The draft that a request asks for; the request must have passed `judgeEmailRequest`. */
export function toDraft(request: RawEmailRequest | TemplatedEmailRequest): EmailDraft {
  return isTemplated(request) ? templatedDraft(request) : rawDraft(request);
}

function rawDraft(request: RawEmailRequest): RawEmailDraft {
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

function templatedDraft(request: TemplatedEmailRequest): TemplatedEmailDraft {
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
  const { to, settings, groupBy, sendAt, idempotencyKey } = request;
  return {
    to: mailboxOf(to),
    trackClicks: settings?.trackClicks ?? true,
    trackOpens: settings?.trackOpens ?? trackOpensByDefault,
    unsubscribe: settings?.unsubscribe,
    groupBy,
    sendAt,
    idempotencyKey,
    fingerprintSource: withoutKey(request),
  };
}

/** The request itself where it has no key, which most have not: what is accepted by the thousand is not copied. */
function withoutKey(request: AnyEmailRequest): JsonObject {
  if (request.idempotencyKey === undefined) return request as unknown as JsonObject;
  const { idempotencyKey: _, ...payload } = request;
  return payload as unknown as JsonObject;
}

/** The sender out of `from` and `fromName`, which wins over a name in `from`, also when it is null: none. */
export function senderOf({ from, fromName }: { from: string; fromName?: string | null }): Mailbox {
  const { address, name } = mailboxOf(from);
  const shown = fromName === undefined ? name : fromName?.trim();
  return shown === undefined ? { address } : { address, name: shown };
}

function replyToOf({ replyTo }: AnyEmailRequest): Mailbox[] | undefined {
  return replyTo === undefined ? undefined : mailboxesOf(replyTo);
}

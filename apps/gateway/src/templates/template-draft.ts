import type { Mailbox } from '@posthorn/domain';
import type { TemplateDraft, TemplatePatch } from '@posthorn/use-cases';
import { senderOf } from '../emails/email-draft.ts';
import { mailboxesOf, mailboxOf } from '../validation/mailbox-rules.ts';
import type { CreateTemplateRequest, UpdateTemplateRequest } from './save-template.requests.ts';

/** Converts a validated request. */
export function toTemplateDraft(request: CreateTemplateRequest): TemplateDraft {
  const { name, subject, html, text, previewText, replyTo, defaults = {}, unsubscribe } = request;
  return {
    name: name.trim(),
    from: senderOf(request),
    replyTo: mailboxesOf(replyTo ?? []),
    parts: { subject, html, ...(text ? { text } : {}), ...(previewText ? { previewText } : {}) },
    defaults,
    unsubscribe,
  };
}

/** Converts a validated request. */
export function toTemplatePatch(request: UpdateTemplateRequest): TemplatePatch {
  const { name, subject, html, text, previewText, defaults, unsubscribe } = request;
  return {
    name: name?.trim(),
    from: senderPatch(request),
    replyTo: replyToPatch(request),
    parts: { subject, html, text, previewText },
    defaults,
    unsubscribe,
  };
}

function senderPatch({ from, fromName }: UpdateTemplateRequest): NonNullable<TemplatePatch['from']> {
  const { address, name } = from === undefined ? ({} as Partial<Mailbox>) : mailboxOf(from);
  return { address, name: fromName === undefined ? name : (fromName?.trim() ?? null) };
}

function replyToPatch({ replyTo }: UpdateTemplateRequest): Mailbox[] | undefined {
  return replyTo === undefined ? undefined : mailboxesOf(replyTo ?? []);
}

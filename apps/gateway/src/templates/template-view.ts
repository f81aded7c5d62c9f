import { withoutUnsubscribeUrl } from '@posthorn/use-cases';
import { type Mailbox, mailboxText } from '@posthorn/domain';
import type {
  Template as TemplateRecord,
  TemplateSummary as SummaryRecord,
  TemplateVersionSummary,
} from '@posthorn/database';
import type { Template, TemplateSummary, TemplateVersion } from './template.answers.ts';

/** A template as the interface shows it. */
export function templateView(template: TemplateRecord): Template {
  const { parts, replyTo, defaults, unsubscribe } = template;
  return {
    ...summaryView({ ...template, subject: parts.subject }),
    html: parts.html,
    text: parts.text ?? null,
    previewText: parts.previewText ?? null,
    replyTo: replyTo.map(mailboxText),
    defaults,
    unsubscribe,
  };
}

/** A template as lists show it. */
export function summaryView(template: SummaryRecord): TemplateSummary {
  const { id, name, updatedAt } = template;
  return { id, name, ...versionView(template), updatedAt };
}

/** A version as lists show it. */
export function versionView({
  version,
  from,
  subject,
  required,
  unsubscribe,
  createdAt,
}: Omit<TemplateVersionSummary, 'id'> & { readonly from: Mailbox }): TemplateVersion {
  const sender = { from: from.address, fromName: from.name ?? null };
  return {
    version,
    ...sender,
    subject,
    requiredVariables: withoutUnsubscribeUrl(required, unsubscribe),
    createdAt,
  };
}

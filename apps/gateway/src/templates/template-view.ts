import { withoutUnsubscribeUrl } from '@posthorn/use-cases';
import { mailboxText } from '@posthorn/domain';
import type {
  Template as TemplateRecord,
  TemplateSummary as SummaryRecord,
  TemplateVersionSummary,
} from '@posthorn/database';
import type { Template, TemplateSummary, TemplateVersion } from './template.answers.ts';

/** The API representation of a template. */
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

/** The API representation of a template in a list. */
export function summaryView(template: SummaryRecord): TemplateSummary {
  const { id, name, updatedAt } = template;
  return { id, name, ...versionView(template), updatedAt };
}

/** The API representation of a version in a list. */
export function versionView({
  version,
  from,
  subject,
  required,
  unsubscribe,
  createdAt,
}: Omit<TemplateVersionSummary, 'id'>): TemplateVersion {
  return {
    version,
    from: from.address,
    fromName: from.name ?? null,
    subject,
    requiredVariables: withoutUnsubscribeUrl(required, unsubscribe),
    createdAt,
  };
}

import { withoutUnsubscribeUrl } from '@posthorn/use-cases';
import { type Mailbox, mailboxText, type Page } from '@posthorn/domain';
import type {
  Template as TemplateRecord,
  TemplateSummary as SummaryRecord,
  TemplateVersionSummary,
} from '@posthorn/database';
import type {
  Template,
  TemplatePage,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionPage,
} from './template.answers.ts';

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

/** A page of templates as the interface shows it. */
export function templatePageView({ items, hasMore, startAt }: Page<SummaryRecord>): TemplatePage {
  return { items: items.map(summaryView), hasMore, startAt };
}

/** A page of versions as the interface shows it. */
export function versionPageView({
  items,
  hasMore,
  startAt,
}: Page<TemplateVersionSummary>): TemplateVersionPage {
  return { items: items.map(versionView), hasMore, startAt };
}

function summaryView(template: SummaryRecord): TemplateSummary {
  const { id, name, updatedAt } = template;
  return { id, name, ...versionView(template), updatedAt };
}

function versionView({
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

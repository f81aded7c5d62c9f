import type { TemplateId, WorkspaceId } from '@posthorn/kernel';
import type { JsonObject, Mailbox, TemplatedEmailDraft } from '@posthorn/domain';
import type { TemplateStore } from '@posthorn/database';
import type { AcceptEmails, Acceptance } from '../accept/accept-emails.ts';

interface SendTestEmailOptions {
  readonly store: Pick<TemplateStore, 'find'>;
  readonly acceptEmails: Pick<AcceptEmails, 'acceptOne'>;
}

interface TestEmail {
  readonly to: Mailbox;
  readonly variables: JsonObject;
}

/** Sends an email of a template, so that somebody sees it in an inbox: accepted, counted and delivered as any other. */
export class SendTestEmail {
  constructor(private readonly options: SendTestEmailOptions) {}

  /**
   * @param traceparent the place in its trace of what asks, if traces are on
   * @returns undefined when the workspace has no such template
   * @throws Refusal as sending any email of this template would be refused
   */
  async send(
    workspaceId: WorkspaceId,
    id: TemplateId,
    { to, variables }: TestEmail,
    traceparent?: string,
  ): Promise<Acceptance | undefined> {
    const template = await this.options.store.find(workspaceId, id);
    if (template === undefined) return undefined;
    const draft: TemplatedEmailDraft = {
      type: 'templated',
      template: template.name,
      to,
      variables,
      trackClicks: true,
      trackOpens: true,
      fingerprintSource: {},
    };
    return this.options.acceptEmails.acceptOne(workspaceId, draft, traceparent);
  }
}

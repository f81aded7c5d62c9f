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

/** Sends an email of a template to try it out in an inbox; it is accepted, counted and delivered like any other. */
export class SendTestEmail {
  constructor(private readonly options: SendTestEmailOptions) {}

  /**
   * @param traceparent the trace context of the request, if tracing is on
   * @returns undefined when the workspace has no such template
   * @throws Refusal as for any email of this template
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

import {
  type Database,
  DomainNoticeStore,
  PendingMailStore,
  SEALED_COLUMNS,
  WebhookNoticeStore,
} from '@posthorn/database';
import type { DomainNotice, WebhookNotice } from '@posthorn/domain';
import type { IdentityId, WebhookId, WorkspaceId } from '@posthorn/kernel';
import type { SecretBox } from '@posthorn/signing';
import {
  domainNoticeMail,
  SendEditorNotices,
  type SendSystemMail,
  SubmitPendingMails,
  webhookNoticeMail,
} from '@posthorn/use-cases';

/** A notice about a webhook or a domain that reached nobody. */
interface UntoldNotice {
  readonly workspaceId: WorkspaceId;
  readonly webhookId?: WebhookId;
  readonly identityId?: IdentityId;
  readonly notice: WebhookNotice | DomainNotice;
  readonly reason: string;
}

export interface PendingMailParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly onUntold: (untold: UntoldNotice) => void;
  /** Called with failures that will be retried. */
  readonly onError: (error: unknown) => void;
}

/** The hand-over of mails that are recorded and not handed over yet, by their kind. */
export function pendingMailKinds(
  { database, secretBox, onUntold, onError }: PendingMailParts,
  systemMail: SendSystemMail,
) {
  const { invitationMail, verificationMail } = SEALED_COLUMNS;
  const common = { systemMail, secretBox, onError };
  return {
    invitations: new SubmitPendingMails({
      ...common,
      kind: 'invitation-mail',
      store: new PendingMailStore(database, invitationMail),
    }),
    verifications: new SubmitPendingMails({
      ...common,
      kind: 'verification-mail',
      store: new PendingMailStore(database, verificationMail),
    }),
    webhookNotices: new SendEditorNotices({
      systemMail,
      onError,
      kind: 'webhook-notice',
      notices: new WebhookNoticeStore(database),
      mailOf: webhookNoticeMail,
      onUntold: ({ workspaceId, webhookId, notice }, reason) =>
        onUntold({ workspaceId, webhookId, notice, reason }),
    }),
    domainNotices: new SendEditorNotices({
      systemMail,
      onError,
      kind: 'domain-notice',
      notices: new DomainNoticeStore(database),
      mailOf: domainNoticeMail,
      onUntold: ({ workspaceId, domain, notice }, reason) =>
        onUntold({ workspaceId, identityId: domain.id, notice, reason }),
    }),
  };
}

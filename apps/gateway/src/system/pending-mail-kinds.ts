import {
  type Database,
  DomainNoticeStore,
  PendingMailStore,
  SEALED_COLUMNS,
  WebhookNoticeStore,
} from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import {
  domainNoticeMail,
  SendEditorNotices,
  type SendSystemMail,
  SubmitPendingMails,
  webhookNoticeMail,
} from '@posthorn/use-cases';

export interface PendingMailParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  /** Called with failures that will be retried. */
  readonly onError: (error: unknown) => void;
}

/** The hand-over of mails that are recorded and not handed over yet, by their kind. */
export function pendingMailKinds(
  { database, secretBox, onError }: PendingMailParts,
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
    }),
    domainNotices: new SendEditorNotices({
      systemMail,
      onError,
      kind: 'domain-notice',
      notices: new DomainNoticeStore(database),
      mailOf: domainNoticeMail,
    }),
  };
}

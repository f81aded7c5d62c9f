import { type Database, OwedMailStore, SEALED_COLUMNS, WebhookNoticeStore } from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import { SendOwedMails, type SendSystemMail, SendWebhookNotices } from '@posthorn/use-cases';

export interface OwedMailParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  /** Called with failures that will be retried. */
  readonly onError: (error: unknown) => void;
}

/** Mails that are recorded but not handed over yet, by their kind. */
export interface OwedMailKinds {
  readonly invitations: SendOwedMails;
  readonly verifications: SendOwedMails;
  readonly webhookNotices: SendWebhookNotices;
}

/** The hand-over of each kind. */
export function owedMailKinds(
  { database, secretBox, onError }: OwedMailParts,
  systemMail: SendSystemMail,
): OwedMailKinds {
  const { invitationMail, verificationMail } = SEALED_COLUMNS;
  const common = { systemMail, secretBox, onError };
  return {
    invitations: new SendOwedMails({
      ...common,
      kind: 'invitation-mail',
      store: new OwedMailStore(database, invitationMail),
    }),
    verifications: new SendOwedMails({
      ...common,
      kind: 'verification-mail',
      store: new OwedMailStore(database, verificationMail),
    }),
    webhookNotices: new SendWebhookNotices({
      systemMail,
      onError,
      notices: new WebhookNoticeStore(database),
    }),
  };
}

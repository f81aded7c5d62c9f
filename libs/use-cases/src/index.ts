export * from './operate/index.ts';
export { AcceptEmails, type Acceptance, type AcceptEmailsOptions } from './accept/accept-emails.ts';
export { type BatchItem } from './accept/batch-answer.ts';
export { unavailable } from './accept/refusals.ts';
export { InviteMember } from './members/invite-member.ts';
export { JoinWorkspace, type ShownInvitation } from './members/join-workspace.ts';
export { endedRefusal, lastEditorRefusal } from './members/member-refusals.ts';
export { SendInvitationMails } from './members/send-invitation-mails.ts';
export {
  ManageContacts,
  type ContactBatchItem,
  type ContactBatchOutcome,
  type WantedContact,
} from './contacts/manage-contacts.ts';
export { CheckDomain, type CheckDomainOptions } from './identities/check-domain.ts';
export { CheckDueDomains } from './identities/check-due-domains.ts';
export { ConfirmAddress } from './identities/confirm-address.ts';
export { CreateIdentity } from './identities/create-identity.ts';
export { DkimKeyMaker } from './identities/dkim-key-maker.ts';
export { type IdentityValue } from './identities/identity-value.ts';
export { RotateKeys } from './identities/rotate-keys.ts';
export { SendVerificationLink } from './identities/send-verification-link.ts';
export { VerifyIdentity } from './identities/verify-identity.ts';
export { type Credentials, OperatorSessions, SESSION_MS } from './operators/operator-sessions.ts';
export { RecordRates, type RecordRatesOptions } from './operators/record-rates.ts';
export { SendEmailAgain, type WantedCopy } from './operators/send-email-again.ts';
export { CancelEmail } from './scheduled/cancel-email.ts';
export { RescheduleEmail } from './scheduled/reschedule-email.ts';
export { PreviewEmail, type EmailPreview } from './send/preview-email.ts';
export { ComposeEmail, type ComposeEmailOptions } from './send/compose-email.ts';
export { type ComposerParts, openComposer } from './send/open-composer.ts';
export { EmailSpans } from './send/email-spans.ts';
export { DeliverEmail, type DeliverEmailOptions } from './send/deliver-email.ts';
export { type LaneTimes } from './lanes/serve-lanes.ts';
export { SendEmails, type SendEmailsOptions } from './send/send-emails.ts';
export { WithheldRecipients } from './send/withheld-recipients.ts';
export { TakeReport, type TakeReportOptions } from './reports/take-report.ts';
export { ChangeSubscription } from './unsubscribe/change-subscription.ts';
export { UnsubscribeLinks } from './unsubscribe/unsubscribe-links.ts';
export { withoutUnsubscribeUrl } from './unsubscribe/unsubscribe-variable.ts';
export { NoticeHits } from './tracking/notice-hits.ts';
export { type TrackedLink, TrackingLinks } from './tracking/tracking-links.ts';
export { CountEmails, type EmailsCounted } from './stats/count-emails.ts';
export { SendOwedMails } from './system/send-owed-mails.ts';
export { admitSystemSender, SendSystemMail, type SystemMail } from './system/send-system-mail.ts';
export { SendWebhookNotices } from './webhooks/send-webhook-notices.ts';
export {
  ManageWebhooks,
  type ManageWebhooksOptions,
  type WebhookWithToken,
} from './webhooks/manage-webhooks.ts';
export { SendDeliveriesAgain } from './webhooks/send-deliveries-again.ts';
export { RecoverDeliveries } from './webhooks/recover-deliveries.ts';
export { ReadDeliveries } from './webhooks/read-deliveries.ts';
export { PreviewTemplate, type PreviewTemplateOptions } from './templates/preview-template.ts';
export {
  SaveTemplate,
  type SaveTemplateOptions,
  type TemplateDraft,
  type TemplatePatch,
} from './templates/save-template.ts';
export { SendTestEmail, type SendTestEmailOptions } from './templates/send-test-email.ts';
export { DeliverEvent, type DeliverEventOptions } from './tell/deliver-event.ts';
export { DeliverEvents, type DeliverEventsOptions } from './tell/deliver-events.ts';
export { FanOutEvents, type FanOutEventsOptions } from './tell/fan-out-events.ts';
export { Receivers } from './tell/receivers.ts';
export { RemoveOld } from './retention/remove-old.ts';

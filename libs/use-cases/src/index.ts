export * from './operate/index.ts';
export { AcceptEmails } from './accept/accept-emails.ts';
export { openAcceptance } from './accept/open-acceptance.ts';
export type { BatchItem } from './accept/batch-answer.ts';
export {
  keyReused,
  missingVariablesOf,
  monthlyLimitReached,
  noSuchTemplate,
  unverifiedSender,
} from './accept/refusals.ts';
export { INVITATION_LINK } from './members/invitation-mail.ts';
export { InviteMember } from './members/invite-member.ts';
export { JoinWorkspace, type ShownInvitation } from './members/join-workspace.ts';
export { endedRefusal, invitationRefusal, lastEditorRefusal } from './members/member-refusals.ts';
export { propertiesTooLarge, SaveContacts, type WantedContact } from './contacts/save-contacts.ts';
export { OperatorSessions, SESSION_MS } from './dashboard/operator-sessions.ts';
export { RecordRates } from './dashboard/record-rates.ts';
export { SendEmailAgain } from './dashboard/send-email-again.ts';
export { CheckDomain } from './identities/check-domain.ts';
export { CheckDueDomains } from './identities/check-due-domains.ts';
export { ConfirmAddress } from './identities/confirm-address.ts';
export { CreateIdentity } from './identities/create-identity.ts';
export { DkimKeyMaker, tooManyDkimKeys } from './identities/dkim-key-maker.ts';
export { identityRefusal, tooManyMails } from './identities/identity-refusals.ts';
export type { IdentityValue } from './identities/identity-value.ts';
export { keysOfAddress, RotateKeys, rotatedTooEarly } from './identities/rotate-keys.ts';
export { VERIFICATION_LINK } from './identities/verification-mail.ts';
export { VerifyIdentity } from './identities/verify-identity.ts';
export { CancelEmail } from './scheduled/cancel-email.ts';
export { MOVED_TOO_OFTEN, notScheduled } from './scheduled/not-scheduled.ts';
export { RescheduleEmail } from './scheduled/reschedule-email.ts';
export {
  contentRemoved,
  PreviewEmail,
  type EmailPreview,
  uncomposable,
  unsignable,
} from './send/preview-email.ts';
export { ComposeEmail } from './send/compose-email.ts';
export { composerParts, type ComposerParts, openComposer } from './send/open-composer.ts';
export { EmailSpans } from './send/email-spans.ts';
export { DeliverEmail } from './send/deliver-email.ts';
export { SendEmails } from './send/send-emails.ts';
export { WithheldRecipients } from './send/withheld-recipients.ts';
export { ReportEmail, STILL_TRANSMITTED } from './reports/report-email.ts';
export { TakeReport } from './reports/take-report.ts';
export { ChangeSubscription, tooManyResubscriptions } from './unsubscribe/change-subscription.ts';
export { TakeUnsubscription } from './unsubscribe/take-unsubscription.ts';
export { UnsubscribeLinks } from './unsubscribe/unsubscribe-links.ts';
export { withoutUnsubscribeUrl } from './unsubscribe/unsubscribe-variable.ts';
export { FollowLink } from './tracking/follow-link.ts';
export { NoticeHits } from './tracking/notice-hits.ts';
export { type TrackedLink, TrackingLinks } from './tracking/tracking-links.ts';
export { CountEmails, type EmailsCounted } from './stats/count-emails.ts';
export { ReadUsage } from './stats/read-usage.ts';
export { SendLink } from './system/send-link.ts';
export { SubmitPendingMails } from './system/submit-pending-mails.ts';
export { admitSystemSender, noSystemMails, SendSystemMail } from './system/send-system-mail.ts';
export { domainNoticeMail } from './identities/domain-notice-mail.ts';
export { SendEditorNotices } from './system/send-editor-notices.ts';
export { webhookNoticeMail } from './webhooks/webhook-notice-mail.ts';
export {
  validateWebhookHost,
  ManageWebhooks,
  tooManyWebhooks,
  type WebhookWithToken,
} from './webhooks/manage-webhooks.ts';
export { deliveryUnderWay, SendDeliveriesAgain } from './webhooks/send-deliveries-again.ts';
export { noSuchPeriod, RecoverDeliveries, recoveryRuns } from './webhooks/recover-deliveries.ts';
export { ReadDeliveries } from './webhooks/read-deliveries.ts';
export { PreviewTemplate } from './templates/preview-template.ts';
export { SaveTemplate, type TemplateDraft, type TemplatePatch } from './templates/save-template.ts';
export { SendTestEmail } from './templates/send-test-email.ts';
export { noSuchVersion, notInTheLanguage, notWritten } from './templates/template-refusals.ts';
export { DeliverEvent } from './deliveries/deliver-event.ts';
export { DeliverEvents } from './deliveries/deliver-events.ts';
export { FanOutEvents } from './deliveries/fan-out-events.ts';
export { Receivers } from './deliveries/receivers.ts';
export { RemoveOld } from './retention/remove-old.ts';
export { RequestErasure, tooManyErasures } from './erasures/request-erasure.ts';
export { ServeErasures } from './erasures/serve-erasures.ts';

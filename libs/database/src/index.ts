export { openDatabase, waitForDatabase, checkDatabase, type Database } from './connection.ts';
export { ExaminedDatabase } from './examined-database.ts';
export { throwRefusedConnection } from './unusable.ts';
export { requireOwner } from './ownership.ts';
export { faultOf, hasRunOutOfTime, isOutage, type DatabaseFault } from './faults.ts';
export type { MigrationDelay } from './migrations/migration-watch.ts';
export { NEWEST_MIGRATION } from './migrations/newest-migration.ts';
export { examineMigrations } from './migrations/run-migrations.ts';
export { sealContextOf, SEALED_COLUMNS, type SealedColumn } from './sealed-columns.ts';
export type {
  AcceptableCall,
  AcceptableEmail,
  AcceptableRawEmail,
  AcceptableTemplatedEmail,
  AcceptanceOutcome,
  AllowedSenders,
  CallOutcome,
  EmailClaim,
  KnownAnswer,
} from './stores/acceptable-email.ts';
export { acceptInvitation } from './stores/accept-invitation.ts';
export { AcceptanceStore } from './stores/acceptance-store.ts';
export { type ApiKey, type KeyHolder, ApiKeyStore } from './stores/api-key-store.ts';
export { AuditLogStore, type AuditEntry, type AuditLogFilter } from './stores/audit-log-store.ts';
export type {
  ClaimedDelivery,
  DeliveryAttempt,
  DeliveryOutcome,
  OwnFault,
  Receiver,
} from './stores/claimed-delivery.ts';
export type { ComposableEmail, TemplatedContent } from './stores/composable-email.ts';
export { ContactChanges } from './stores/contact-changes.ts';
export { ContactStore } from './stores/contact-store.ts';
export type { ContactUpsert, ContactWrite } from './stores/contact-writes.ts';
export { EmailChanges } from './stores/email-changes.ts';
export {
  type CountedEmails,
  type DayCount,
  type DayEngagement,
  EmailCountsStore,
} from './stores/email-counts-store.ts';
export { DeliveryChanges } from './stores/delivery-changes.ts';
export { DeliveryListStore } from './stores/delivery-list-store.ts';
export { EraStore, type DueSince, type PassGroup, type PassPosition } from './stores/era-store.ts';
export { EventFeedStore, type FeedFault, type WantedEvents } from './stores/event-feed-store.ts';
export { DeliveryStore, type ClaimCapacity } from './stores/delivery-store.ts';
export type { FannedOut } from './stores/fanned-out.ts';
export { HeldEmailStore } from './stores/held-email-store.ts';
export { HitStore } from './stores/hit-store.ts';
export { EmailListStore } from './stores/email-list-store.ts';
export type { EmailRecord, EmailSummary } from './stores/email-record.ts';
export { EmailSearchStore, type FoundEmail } from './stores/email-search-store.ts';
export { EmailStore, MAX_TIMELINE_ENTRIES } from './stores/email-store.ts';
export type { DeliveryFilter } from './sql/delivery-list.ts';
export type { EmailFilter } from './sql/email-list.ts';
export { type ClaimedDomain, DomainCheckStore } from './stores/domain-check-store.ts';
export { DkimKeyChanges, type NewDkimKey } from './stores/dkim-key-changes.ts';
export { IdentityChanges, type IdentityRefusal } from './stores/identity-changes.ts';
export { type Identity, type IdentityWithRecords, stagedKey } from './stores/identity-row.ts';
export { IdentityStore } from './stores/identity-store.ts';
export {
  InvitationChanges,
  type InvitationEnded,
  type InvitationRefusal,
} from './stores/invitation-changes.ts';
export { InvitationStore, type LinkedInvitation } from './stores/invitation-store.ts';
export type { MailRefusal } from './stores/mail-refusal.ts';
export { type LastEditor, MemberStore } from './stores/member-store.ts';
export { type OperatorAccount, OperatorAccountStore } from './stores/operator-account-store.ts';
export {
  type AdmittedSessions,
  type NewSession,
  OperatorSessionStore,
  type VouchedOperator,
} from './stores/operator-session-store.ts';
export type { ClaimedRow, LaneDemand, OutboxQueue } from './stores/claim.ts';
export type { ClaimedEmail, EmailOutcome } from './stores/claimed-email.ts';
export { type QueueBacklog, type EmailBacklog, OutboxStore } from './stores/outbox-store.ts';
export {
  type BusyLane,
  type MinuteOfEmails,
  MAX_ROWS_COUNTED,
  type PausedLanes,
  OverviewStore,
} from './stores/overview-store.ts';
export { type Rate, type RateOfMinute, RateStore, type RelaySeen } from './stores/rate-store.ts';
export { type LinkMail, type PendingMail, PendingMailStore } from './stores/pending-mail-store.ts';
export { type PausedLane, PausedLaneStore } from './stores/paused-lane-store.ts';
export { type SealedSecret, SealedSecretStore } from './stores/sealed-secret-store.ts';
export type { DeliveryWithAttempts, ShownAttempt, ShownDelivery } from './stores/shown-delivery.ts';
export { SuppressionChanges } from './stores/suppression-changes.ts';
export { SubscriptionStore, type Subscription } from './stores/subscription-store.ts';
export { SuppressionSearchStore } from './stores/suppression-search-store.ts';
export { SuppressionStore } from './stores/suppression-store.ts';
export { RecoveryStore } from './stores/recovery-store.ts';
export { type ReportedEmail, type AssessedReport, ReportStore } from './stores/report-store.ts';
export { RetentionStore } from './stores/retention-store.ts';
export { TemplateChanges, type TemplateRefusal } from './stores/template-changes.ts';
export type {
  Template,
  TemplateContent,
  TemplateSummary,
  TemplateVersionSummary,
} from './stores/template-row.ts';
export { TemplateStore, type CurrentTemplate } from './stores/template-store.ts';
export { UpkeepStore } from './stores/upkeep-store.ts';
export { UsageStore } from './stores/usage-store.ts';
export {
  ReceiverHealthStore,
  type NewWebhookNotice,
  type ReceiverReport,
} from './stores/receiver-health-store.ts';
export { type FoundWebhook, type WebhookFilter, WebhookSearchStore } from './stores/webhook-search-store.ts';
export type { PendingNotice } from './stores/pending-notice.ts';
export { DomainNoticeStore, type PendingDomainNotice } from './stores/domain-notice-store.ts';
export { type PendingWebhookNotice, WebhookNoticeStore } from './stores/webhook-notice-store.ts';
export { type SealedWebhook, type WebhookChange, WebhookStore } from './stores/webhook-store.ts';
export { VerificationLinkStore, type LinkedAddress } from './stores/verification-link-store.ts';
export { WorkspaceDeletionStore } from './stores/workspace-deletion-store.ts';
export { type Workspace, WorkspaceStore } from './stores/workspace-store.ts';
export { DkimKeyStore, type SealedSigningKey, type SendingDomain } from './stores/dkim-key-store.ts';
export { ERASURE_RULES } from './erasure-rules.ts';
export { addCounts, type TableCounts } from './stores/removed-rows.ts';
export { type ErasedRows, type ErasureRun, ErasureStore } from './stores/erasure-store.ts';
export type { PersonToErase } from './stores/redaction.ts';

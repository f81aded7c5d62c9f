export { openDatabase, waitForDatabase, checkDatabase, type Database } from './connection/connection.ts';
export { ExaminedDatabase } from './examined-database.ts';
export { throwRefusedConnection } from './faults/unusable.ts';
export { requireOwner } from './connection/ownership.ts';
export { faultOf, hasRunOutOfTime, isOutage, type DatabaseFault } from './faults/faults.ts';
export type { MigrationDelay } from './migrations/migration-watch.ts';
export { NEWEST_MIGRATION } from './migrations/newest-migration.ts';
export { examineMigrations } from './migrations/run-migrations.ts';
export { sealContextOf, SEALED_COLUMNS, type SealedColumn } from './schema/sealed-columns.ts';
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
} from './stores/acceptance/acceptable-email.ts';
export { AcceptanceStore } from './stores/acceptance/acceptance-store.ts';
export { type ApiKey, type KeyHolder, ApiKeyStore } from './stores/workspaces/api-key-store.ts';
export {
  type AuditedChange,
  type AuditEntry,
  AuditLogStore,
  ofSystem,
} from './stores/workspaces/audit-log-store.ts';
export type {
  ClaimedDelivery,
  DeliveryAttempt,
  DeliveryOutcome,
  OwnFault,
  Receiver,
} from './stores/webhooks/claimed-delivery.ts';
export type { ComposableEmail, TemplatedContent } from './stores/emails/composable-email.ts';
export { ContactChanges } from './stores/contacts/contact-changes.ts';
export { ContactStore } from './stores/contacts/contact-store.ts';
export type { ContactUpsert, ContactWrite } from './stores/contacts/contact-writes.ts';
export { EmailChanges } from './stores/emails/email-changes.ts';
export {
  type CountedEmails,
  type DayCount,
  type DayEngagement,
  EmailCountsStore,
} from './stores/emails/email-counts-store.ts';
export { DeliveryChanges } from './stores/webhooks/delivery-changes.ts';
export { DeliveryListStore } from './stores/webhooks/delivery-list-store.ts';
export {
  EraStore,
  type CountedDueSince,
  type DueSince,
  type PassGroup,
  type PassPosition,
} from './stores/events/era-store.ts';
export {
  EventFeedStore,
  type FeedFault,
  type FeedPage,
  type WantedEvents,
} from './stores/events/event-feed-store.ts';
export { DeliveryStore, type ClaimCapacity } from './stores/webhooks/delivery-store.ts';
export type { FannedOut } from './stores/webhooks/fanned-out.ts';
export { HeldEmailStore } from './stores/outbox/held-email-store.ts';
export { type HastenedCounts, type RetryFilter, RetryStore } from './stores/outbox/retry-store.ts';
export { HitStore } from './stores/emails/hit-store.ts';
export { EmailListStore } from './stores/emails/email-list-store.ts';
export type { EmailRecord, EmailSummary } from './stores/emails/email-record.ts';
export { type EmailFailure, EmailSearchStore, type FoundEmail } from './stores/emails/email-search-store.ts';
export { EmailStore, MAX_TIMELINE_ENTRIES } from './stores/emails/email-store.ts';
export type { AuditLogFilter } from './sql/audit-log.ts';
export type { DeliveryFilter } from './sql/delivery-list.ts';
export type { EmailFilter } from './sql/email-list.ts';
export { type ClaimedDomain, DomainCheckStore } from './stores/identities/domain-check-store.ts';
export { DkimKeyChanges, type NewDkimKey } from './stores/identities/dkim-key-changes.ts';
export { IdentityChanges, type IdentityRefusal } from './stores/identities/identity-changes.ts';
export { type Identity, type IdentityWithRecords, stagedKey } from './stores/identities/identity-row.ts';
export { IdentityStore } from './stores/identities/identity-store.ts';
export {
  InvitationChanges,
  type InvitationEnded,
  type InvitationRefusal,
} from './stores/members/invitation-changes.ts';
export { InvitationLinkStore, type LinkedInvitation } from './stores/members/invitation-link-store.ts';
export { InvitationStore } from './stores/members/invitation-store.ts';
export type { MailRefusal } from './stores/mail-refusal.ts';
export { type LastEditor, MemberStore } from './stores/members/member-store.ts';
export { type OperatorAccount, OperatorAccountStore } from './stores/operators/operator-account-store.ts';
export {
  type AdmittedSessions,
  type NewSession,
  OperatorSessionStore,
  type VouchedOperator,
} from './stores/operators/operator-session-store.ts';
export type { ClaimedRow, OutboxQueue } from './stores/outbox/claim.ts';
export type { ClaimedEmail, EmailOutcome } from './stores/outbox/claimed-email.ts';
export { type QueueBacklog, type EmailBacklog, OutboxStore } from './stores/outbox/outbox-store.ts';
export {
  type BusyLane,
  type MinuteOfEmails,
  MAX_ROWS_COUNTED,
  type PausedLanes,
  OverviewStore,
  type WaitingRetries,
} from './stores/operators/overview-store.ts';
export {
  type Rate,
  type RateOfMinute,
  RateStore,
  type RelaySeen,
  type RelayView,
} from './stores/operators/rate-store.ts';
export { type LinkMail, type PendingMail, PendingMailStore } from './stores/pending-mail-store.ts';
export { type PausedLane, PausedLaneStore } from './stores/outbox/paused-lane-store.ts';
export { type SealedSecret, SealedSecretStore } from './stores/sealed-secret-store.ts';
export type { DeliveryWithAttempts, ShownAttempt, ShownDelivery } from './stores/webhooks/shown-delivery.ts';
export { SuppressionChanges } from './stores/contacts/suppression-changes.ts';
export { SubscriptionStore, type Subscription } from './stores/contacts/subscription-store.ts';
export { SuppressionSearchStore } from './stores/contacts/suppression-search-store.ts';
export { SuppressionStore } from './stores/contacts/suppression-store.ts';
export { RecoveryStore } from './stores/webhooks/recovery-store.ts';
export { type ReportedEmail, type AssessedReport, ReportStore } from './stores/emails/report-store.ts';
export { RetentionStore } from './stores/retention/retention-store.ts';
export { TemplateChanges, type TemplateRefusal } from './stores/templates/template-changes.ts';
export type {
  StoredVersionSource,
  Template,
  TemplateContent,
  TemplateSummary,
  TemplateVersionSummary,
} from './stores/templates/template-row.ts';
export { TemplateStore, type CurrentTemplate } from './stores/templates/template-store.ts';
export { type LinkAtHost, TrackingHostStore } from './stores/workspaces/tracking-host-store.ts';
export { UpkeepStore } from './stores/retention/upkeep-store.ts';
export { UsageStore } from './stores/workspaces/usage-store.ts';
export {
  ReceiverHealthStore,
  type NewWebhookNotice,
  type ReceiverReport,
} from './stores/webhooks/receiver-health-store.ts';
export {
  type FoundWebhook,
  type WebhookFilter,
  WebhookSearchStore,
} from './stores/webhooks/webhook-search-store.ts';
export type { PendingNotice } from './stores/pending-notice.ts';
export { DomainNoticeStore, type PendingDomainNotice } from './stores/identities/domain-notice-store.ts';
export { type PendingWebhookNotice, WebhookNoticeStore } from './stores/webhooks/webhook-notice-store.ts';
export { type SealedWebhook, type WebhookChange, WebhookStore } from './stores/webhooks/webhook-store.ts';
export { VerificationLinkStore, type LinkedAddress } from './stores/identities/verification-link-store.ts';
export { WorkspaceDeletionStore } from './stores/workspaces/workspace-deletion-store.ts';
export { type Workspace, WorkspaceStore } from './stores/workspaces/workspace-store.ts';
export {
  DkimKeyStore,
  type SealedSigningKey,
  type SendingDomain,
} from './stores/identities/dkim-key-store.ts';
export { addCounts, type TableCounts, totalOf, withoutNone } from './stores/retention/table-counts.ts';
export { ErasureStore } from './stores/retention/erasure-store.ts';

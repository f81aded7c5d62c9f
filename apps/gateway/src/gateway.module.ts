import { type DynamicModule, Module, type Type } from '@nestjs/common';
import type { ErrorBody, Refusal } from '@posthorn/kernel';
import {
  ApiKeyStore,
  AuditLogStore,
  ContactChanges,
  ContactStore,
  EventFeedStore,
  ErasureStore,
  SubscriptionStore,
  SuppressionChanges,
  SuppressionStore,
  UsageStore,
} from '@posthorn/database';
import type { IdentifyCaller, RateLimits } from '@posthorn/auth';
import type { Mailbox } from '@posthorn/domain';
import { answerOf, HealthController, providersOf } from '@posthorn/platform';
import type { RateLimiter } from '@posthorn/queues';
import {
  ChangeSubscription,
  type FollowLink,
  type NoticeHits,
  openAcceptance,
  ReadUsage,
  RequestErasure,
  SaveContacts,
  SendSystemMail,
} from '@posthorn/use-cases';
import { ApiKeysController } from './api-keys/api-keys.controller.ts';
import { KeyCheckController } from './api-keys/key-check.controller.ts';
import { AuditLogController } from './audit-log/audit-log.controller.ts';
import { ContactBatchController } from './contacts/contact-batch.controller.ts';
import { ContactsController } from './contacts/contacts.controller.ts';
import { ErrorPagesController } from './docs/error-pages.controller.ts';
import { ReferenceController } from './docs/reference.controller.ts';
import { EmailBatchController } from './emails/email-batch.controller.ts';
import { type EmailParts, emailProviders } from './emails/email.providers.ts';
import { EmailReportsController } from './emails/email-reports.controller.ts';
import { EmailsController } from './emails/emails.controller.ts';
import { ScheduledEmailsController } from './emails/scheduled-emails.controller.ts';
import { ErasuresController } from './erasures/erasures.controller.ts';
import { EventsController } from './events/events.controller.ts';
import { InvitationsController } from './members/invitations.controller.ts';
import { JoinWorkspaceController } from './members/join-workspace.controller.ts';
import { type MemberParts, memberProviders } from './members/member.providers.ts';
import { MembersController } from './members/members.controller.ts';
import { ConfirmAddressController } from './identities/confirm-address.controller.ts';
import { IdentitiesController } from './identities/identities.controller.ts';
import { type IdentityParts, identityProviders } from './identities/identity.providers.ts';
import { pendingMailKinds, type PendingMailParts } from './system/pending-mail-kinds.ts';
import { PendingMails } from './system/pending-mails.ts';
import { ApiDocument } from './openapi/api-document.ts';
import { OpenApiController } from './openapi/openapi.controller.ts';
import { StatsController } from './stats/stats.controller.ts';
import { UsageController } from './stats/usage.controller.ts';
import { DeliveriesController } from './webhooks/deliveries.controller.ts';
import { RecoveriesController } from './webhooks/recoveries.controller.ts';
import { type WebhookParts, webhookProviders } from './webhooks/webhook.providers.ts';
import { WebhooksController } from './webhooks/webhooks.controller.ts';
import { SuppressionsController } from './suppressions/suppressions.controller.ts';
import { LargeReads } from './system/large-reads.ts';
import { ItemBatches } from './validation/item-batches.ts';
import { type TemplateParts, templateProviders } from './templates/template.providers.ts';
import { TemplateUseController } from './templates/template-use.controller.ts';
import { TrackingController } from './tracking/tracking.controller.ts';
import { UnsubscribeController } from './unsubscribe/unsubscribe.controller.ts';
import { TemplatesController } from './templates/templates.controller.ts';

export interface GatewayParts
  extends EmailParts, IdentityParts, MemberParts, PendingMailParts, TemplateParts, WebhookParts {
  readonly limits: RateLimits;
  readonly limiter: RateLimiter;
  /** Emails per month of a workspace without a limit of its own; null: no limit. */
  readonly monthlyLimit: number | null;
  /** The sender of Posthorn's own mails; undefined: it sends none. */
  readonly systemFrom: Mailbox | undefined;
  /** Authenticates requests. */
  readonly callers: IdentifyCaller;
  /** Finds where a tracked link leads. */
  readonly followLink: FollowLink;
  /** Records clicks and opens. */
  readonly hits: NoticeHits;
}

/** All controllers of the API; each route describes itself for the OpenAPI document. */
export const CONTROLLERS: Type[] = [
  EmailBatchController,
  EmailsController,
  ContactBatchController,
  ContactsController,
  SuppressionsController,
  ErasuresController,
  ScheduledEmailsController,
  EmailReportsController,
  StatsController,
  UsageController,
  KeyCheckController,
  ApiKeysController,
  AuditLogController,
  MembersController,
  InvitationsController,
  JoinWorkspaceController,
  WebhooksController,
  EventsController,
  DeliveriesController,
  RecoveriesController,
  TemplatesController,
  TemplateUseController,
  IdentitiesController,
  ConfirmAddressController,
  UnsubscribeController,
  TrackingController,
  ErrorPagesController,
  ReferenceController,
  OpenApiController,
];

/** The HTTP API. */
@Module({})
export class GatewayModule {
  static of(parts: GatewayParts): DynamicModule {
    const { database, rings, limits, limiter, monthlyLimit, systemFrom, callers, publicUrl } = parts;
    const errorBodyOf = (refusal: Refusal): ErrorBody => answerOf(refusal, publicUrl).body;
    const acceptEmails = openAcceptance({ database, rings, monthlyLimit, errorBodyOf });
    const contacts = new ContactStore(database);
    const changes = new ContactChanges(database);
    const subscriptions = new SubscriptionStore(database);
    const erasures = new ErasureStore(database);
    const systemMail = new SendSystemMail({ acceptEmails, from: systemFrom });
    const pendingMails = pendingMailKinds(parts, systemMail);
    return {
      module: GatewayModule,
      controllers: CONTROLLERS,
      providers: [
        ...providersOf(
          database.clock,
          callers,
          limits,
          parts.trackingLinks,
          parts.followLink,
          parts.hits,
          acceptEmails,
          contacts,
          changes,
          new SaveContacts({ contacts, changes }),
          new ItemBatches(errorBodyOf),
          new SuppressionStore(database),
          new SuppressionChanges(database),
          erasures,
          new RequestErasure(erasures, database.clock),
          new ChangeSubscription({ subscriptions, links: parts.unsubscribeLinks, limiter }),
          new AuditLogStore(database),
          new EventFeedStore(database),
          new ApiKeyStore(database),
          new ReadUsage({ usage: new UsageStore(database), clock: database.clock, monthlyLimit }),
          new PendingMails(Object.values(pendingMails), parts.onError),
          new LargeReads(),
          new ApiDocument([HealthController, ...CONTROLLERS], publicUrl),
        ),
        ...emailProviders(parts),
        ...webhookProviders(parts),
        ...templateProviders(parts, acceptEmails),
        ...memberProviders(parts, pendingMails.invitations),
        ...identityProviders(parts, pendingMails.verifications),
      ],
    };
  }
}

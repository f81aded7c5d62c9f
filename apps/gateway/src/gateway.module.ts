import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { DatabaseClock, type ErrorBody, type Refusal } from '@posthorn/kernel';
import {
  ApiKeyStore,
  AuditLogStore,
  ContactChanges,
  ContactStore,
  type Database,
  EventFeedStore,
  SuppressionChanges,
  SuppressionStore,
} from '@posthorn/database';
import { IdentifyCaller, RateLimits } from '@posthorn/auth';
import type { Mailbox, WebhookUrlPolicy } from '@posthorn/domain';
import type { DnsResolver } from '@posthorn/dns';
import type { LaneRings } from '@posthorn/queues';
import type { HtmlToText, LinkFinder, TemplateRenderer } from '@posthorn/rendering';
import type { SecretBox } from '@posthorn/signing';
import { answerOf } from '@posthorn/platform';
import {
  AcceptEmails,
  openAcceptance,
  SaveContacts,
  SendSystemMail,
  NoticeHits,
  TrackingLinks,
  type UnsubscribeLinks,
} from '@posthorn/use-cases';
import { ApiKeysController } from './api-keys/api-keys.controller.ts';
import { KeyCheckController } from './api-keys/key-check.controller.ts';
import { AuditLogController } from './audit-log/audit-log.controller.ts';
import { ContactBatchController } from './contacts/contact-batch.controller.ts';
import { ContactsController } from './contacts/contacts.controller.ts';
import { ErrorPagesController } from './docs/error-pages.controller.ts';
import { ReferenceController } from './docs/reference.controller.ts';
import { EmailBatchController } from './emails/email-batch.controller.ts';
import { emailProviders } from './emails/email.providers.ts';
import { EmailsController } from './emails/emails.controller.ts';
import { ListEmailsController } from './emails/list-emails.controller.ts';
import { PreviewEmailController } from './emails/preview-email.controller.ts';
import { ScheduledEmailsController } from './emails/scheduled-emails.controller.ts';
import { EventsController } from './events/events.controller.ts';
import { InvitationsController } from './members/invitations.controller.ts';
import { JoinWorkspaceController } from './members/join-workspace.controller.ts';
import { memberProviders } from './members/member.providers.ts';
import { MembersController } from './members/members.controller.ts';
import { ConfirmAddressController } from './identities/confirm-address.controller.ts';
import { IdentitiesController } from './identities/identities.controller.ts';
import { identityProviders } from './identities/identity.providers.ts';
import { RotateKeysController } from './identities/rotate-keys.controller.ts';
import { owedMailKinds } from './system/owed-mail-kinds.ts';
import { OwedMails } from './system/owed-mails.ts';
import { ApiDocument } from './openapi/api-document.ts';
import { OpenApiController } from './openapi/openapi.controller.ts';
import { StatsController } from './stats/stats.controller.ts';
import { RotateTokenController } from './webhooks/rotate-token.controller.ts';
import { DeliveriesByHandController } from './webhooks/deliveries-by-hand.controller.ts';
import { DeliveriesController } from './webhooks/deliveries.controller.ts';
import { RecoveriesController } from './webhooks/recoveries.controller.ts';
import { webhookProviders } from './webhooks/webhook.providers.ts';
import { WebhooksController } from './webhooks/webhooks.controller.ts';
import { SuppressionsController } from './suppressions/suppressions.controller.ts';
import { templateProviders } from './templates/template.providers.ts';
import { TemplateUseController } from './templates/template-use.controller.ts';
import { TrackingController } from './tracking/tracking.controller.ts';
import { UnsubscribeController } from './unsubscribe/unsubscribe.controller.ts';
import { unsubscribeProviders } from './unsubscribe/unsubscribe.providers.ts';
import { TemplatesController } from './templates/templates.controller.ts';

export interface GatewayParts {
  readonly database: Database;
  readonly rings: LaneRings;
  readonly limits: RateLimits;
  /** Emails a month of a workspace without a limit of its own; null: none. */
  readonly monthlyLimit: number | null;
  /** The sender of Posthorn's own mails; undefined: it sends none. */
  readonly systemFrom: Mailbox | undefined;
  /** What finds out who a request is from. */
  readonly callers: IdentifyCaller;
  /** What keeps secrets at rest. */
  readonly secretBox: SecretBox;
  /** Where webhooks may lead. */
  readonly webhookPolicy: WebhookUrlPolicy;
  /** For deliveries that are asked for by hand. */
  readonly webhookRings: LaneRings;
  /** What judges and renders templates. */
  readonly renderer: TemplateRenderer;
  /** What makes the text of an email that has none. */
  readonly htmlToText: HtmlToText;
  /** What looks up the records of sending domains. */
  readonly resolver: DnsResolver;
  /** What their SPF records must include; undefined: the operator has not said. */
  readonly spfInclude: string | undefined;
  /** The address of the gateway as callers see it, without a slash at its end. */
  readonly publicUrl: string;
  /** The links by which recipients unsubscribe. */
  readonly unsubscribeLinks: UnsubscribeLinks;
  /** What finds the links of an email. */
  readonly linkFinder: LinkFinder;
  /** What its links and its image become. */
  readonly trackingLinks: TrackingLinks;
  /** Where it is noted that they were followed and loaded. */
  readonly hits: NoticeHits;
  /** Told of what failed and will be tried again. */
  readonly onError: (error: unknown) => void;
}

/** All of them; each route describes itself for the document of the interface. */
export const CONTROLLERS: Type[] = [
  EmailBatchController,
  EmailsController,
  ListEmailsController,
  ContactBatchController,
  ContactsController,
  SuppressionsController,
  ScheduledEmailsController,
  PreviewEmailController,
  StatsController,
  KeyCheckController,
  ApiKeysController,
  AuditLogController,
  MembersController,
  InvitationsController,
  JoinWorkspaceController,
  WebhooksController,
  RotateTokenController,
  EventsController,
  DeliveriesController,
  DeliveriesByHandController,
  RecoveriesController,
  TemplatesController,
  TemplateUseController,
  IdentitiesController,
  RotateKeysController,
  ConfirmAddressController,
  UnsubscribeController,
  TrackingController,
  ErrorPagesController,
  ReferenceController,
  OpenApiController,
];

/** The HTTP interface. */
@Module({})
export class GatewayModule {
  static of(parts: GatewayParts): DynamicModule {
    const { database, rings, limits, monthlyLimit, systemFrom, callers, publicUrl } = parts;
    const errorBodyOf = (refusal: Refusal): ErrorBody => answerOf(refusal, publicUrl).body;
    const acceptEmails = openAcceptance({ database, rings, monthlyLimit, errorBodyOf });
    const contacts = new ContactStore(database);
    const changes = new ContactChanges(database);
    const systemMail = new SendSystemMail({ acceptEmails, from: systemFrom });
    const owedMails = owedMailKinds(parts, systemMail);
    return {
      module: GatewayModule,
      imports: [DiscoveryModule],
      controllers: CONTROLLERS,
      providers: [
        {
          provide: ApiDocument,
          inject: [DiscoveryService],
          useFactory: (discovery: DiscoveryService) => new ApiDocument(discovery, publicUrl),
        },
        { provide: DatabaseClock, useValue: database.clock },
        { provide: AcceptEmails, useValue: acceptEmails },
        { provide: ContactStore, useValue: contacts },
        { provide: ContactChanges, useValue: changes },
        { provide: SaveContacts, useValue: new SaveContacts({ contacts, changes, errorBodyOf }) },
        { provide: SuppressionStore, useValue: new SuppressionStore(database) },
        { provide: SuppressionChanges, useValue: new SuppressionChanges(database) },
        ...webhookProviders(parts),
        { provide: AuditLogStore, useValue: new AuditLogStore(database) },
        { provide: EventFeedStore, useValue: new EventFeedStore(database) },
        { provide: ApiKeyStore, useValue: new ApiKeyStore(database) },
        ...templateProviders(parts, acceptEmails),
        ...memberProviders(parts, owedMails.invitations),
        ...identityProviders(parts, owedMails.verifications),
        { provide: OwedMails, useValue: new OwedMails(Object.values(owedMails), parts.onError) },
        ...emailProviders(parts),
        ...unsubscribeProviders(parts),
        { provide: TrackingLinks, useValue: parts.trackingLinks },
        { provide: NoticeHits, useValue: parts.hits },
        { provide: RateLimits, useValue: limits },
        { provide: IdentifyCaller, useValue: callers },
      ],
    };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import {
  ApiKeyStore,
  AuditLogStore,
  EmailCountsStore,
  EraStore,
  IdentityStore,
  MemberStore,
  OutboxStore,
  OverviewStore,
  PausedLaneStore,
  RateStore,
  RetryStore,
  SuppressionChanges,
  SuppressionSearchStore,
  UsageStore,
  WorkspaceDeletionStore,
} from '@posthorn/database';
import { providersOf } from '@posthorn/platform';
import type { LaneRings, ReadOnlyQueues } from '@posthorn/queues';
import { type OperatorSessions, ReadUsage } from '@posthorn/use-cases';
import { AuditController } from './audit/audit.controller.ts';
import { EmailActionsController } from './emails/email-actions.controller.ts';
import { EmailContentController } from './emails/email-content.controller.ts';
import { type EmailParts, emailProviders } from './emails/email.providers.ts';
import { EmailsController } from './emails/emails.controller.ts';
import { OverviewController } from './overview/overview.controller.ts';
import { PausesController } from './pauses/pauses.controller.ts';
import { ProviderController } from './sign-in/provider.controller.ts';
import type { SessionCookie } from './sign-in/session-cookie.ts';
import { SignInController } from './sign-in/sign-in.controller.ts';
import type { SignInCookie } from './sign-in/sign-in-cookie.ts';
import type { SignInMethods, TrustedProxies } from './sign-in/sign-in-methods.ts';
import { RetriesController } from './retries/retries.controller.ts';
import { SuppressionsController } from './suppressions/suppressions.controller.ts';
import { WorkspaceDetailsController } from './workspaces/workspace-details.controller.ts';
import { WorkspacesController } from './workspaces/workspaces.controller.ts';
import { WebhookActionsController } from './webhooks/webhook-actions.controller.ts';
import { webhookProviders } from './webhooks/webhook.providers.ts';
import { WebhooksController } from './webhooks/webhooks.controller.ts';

interface DashboardParts extends EmailParts {
  readonly webhookRings: LaneRings;
  readonly queues: ReadOnlyQueues;
  readonly sessions: OperatorSessions;
  readonly sessionCookie: SessionCookie;
  readonly signInCookie: SignInCookie;
  readonly methods: SignInMethods;
  readonly proxies: TrustedProxies;
}

/** The pages of the dashboard. */
@Module({})
export class DashboardModule {
  static of(parts: DashboardParts): DynamicModule {
    const { database } = parts;
    return {
      module: DashboardModule,
      controllers: [
        OverviewController,
        PausesController,
        RetriesController,
        SignInController,
        ProviderController,
        WorkspacesController,
        WorkspaceDetailsController,
        EmailsController,
        EmailContentController,
        EmailActionsController,
        SuppressionsController,
        WebhooksController,
        WebhookActionsController,
        AuditController,
      ],
      providers: [
        ...providersOf(
          parts.sessions,
          parts.sessionCookie,
          parts.signInCookie,
          parts.methods,
          parts.proxies,
          new OverviewStore(database),
          new OutboxStore(database),
          new AuditLogStore(database),
          new EraStore(database),
          new IdentityStore(database),
          new ApiKeyStore(database),
          new MemberStore(database),
          new EmailCountsStore(database),
          new WorkspaceDeletionStore(database),
          new ReadUsage({
            usage: new UsageStore(database),
            clock: database.clock,
            monthlyLimit: parts.monthlyLimit,
          }),
          new PausedLaneStore(database),
          new RateStore(database),
          new RetryStore(database),
          database.clock,
          parts.queues,
          new SuppressionSearchStore(database),
          new SuppressionChanges(database),
        ),
        ...emailProviders(parts),
        ...webhookProviders(database, parts.webhookRings),
      ],
    };
  }
}

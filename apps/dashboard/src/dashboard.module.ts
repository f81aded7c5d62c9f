import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseClock } from '@posthorn/kernel';
import {
  AuditLogStore,
  EraStore,
  OutboxStore,
  OverviewStore,
  PausedLaneStore,
  RateStore,
  SuppressionChanges,
  SuppressionSearchStore,
} from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import { OperatorSessions } from '@posthorn/use-cases';
import { AuditController } from './audit/audit.controller.ts';
import { EmailActionsController } from './emails/email-actions.controller.ts';
import { EmailContentController } from './emails/email-content.controller.ts';
import { type EmailParts, emailProviders } from './emails/email.providers.ts';
import { EmailsController } from './emails/emails.controller.ts';
import { OverviewController } from './overview/overview.controller.ts';
import { PausesController } from './pauses/pauses.controller.ts';
import { ProviderController } from './sign-in/provider.controller.ts';
import { SessionCookie } from './sign-in/session-cookie.ts';
import { SignInController } from './sign-in/sign-in.controller.ts';
import { SignInCookie } from './sign-in/sign-in-cookie.ts';
import { SignInMethods, TrustedProxies } from './sign-in/sign-in-methods.ts';
import { SuppressionsController } from './suppressions/suppressions.controller.ts';
import { WebhookActionsController } from './webhooks/webhook-actions.controller.ts';
import { webhookProviders } from './webhooks/webhook.providers.ts';
import { WebhooksController } from './webhooks/webhooks.controller.ts';

export interface DashboardParts extends EmailParts {
  readonly webhookRings: LaneRings;
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
        SignInController,
        ProviderController,
        EmailsController,
        EmailContentController,
        EmailActionsController,
        SuppressionsController,
        WebhooksController,
        WebhookActionsController,
        AuditController,
      ],
      providers: [
        { provide: OperatorSessions, useValue: parts.sessions },
        { provide: SessionCookie, useValue: parts.sessionCookie },
        { provide: SignInCookie, useValue: parts.signInCookie },
        { provide: SignInMethods, useValue: parts.methods },
        { provide: TrustedProxies, useValue: parts.proxies },
        { provide: OverviewStore, useValue: new OverviewStore(database) },
        { provide: OutboxStore, useValue: new OutboxStore(database) },
        { provide: AuditLogStore, useValue: new AuditLogStore(database) },
        { provide: EraStore, useValue: new EraStore(database) },
        { provide: PausedLaneStore, useValue: new PausedLaneStore(database) },
        { provide: RateStore, useValue: new RateStore(database) },
        { provide: DatabaseClock, useValue: database.clock },
        { provide: SuppressionSearchStore, useValue: new SuppressionSearchStore(database) },
        { provide: SuppressionChanges, useValue: new SuppressionChanges(database) },
        ...emailProviders(parts),
        ...webhookProviders(database, parts.webhookRings),
      ],
    };
  }
}

import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { AuditLogStore, RecoveryStore, WebhookSearchStore, WorkspaceStore } from '@posthorn/database';
import { ReadDeliveries } from '@posthorn/use-cases';
import type { Response } from 'express';
import { confirmationIn } from '../pages/confirmation.ts';
import { renderPage } from '../pages/page.ts';
import { runSearch } from '../pages/search.ts';
import { readWorkspaces } from '../pages/workspaces.ts';
import { orNotFound } from '../pages/refusals.ts';
import { accountOf } from '../sign-in/session-guard.ts';
import { deliveryPage } from './delivery-page.ts';
import { NO_DELIVERY, WebhookReader } from './webhook-reader.ts';
import { DELIVERY_FIELDS, deliveryFilter, WEBHOOK_FIELDS, webhookFilter } from './webhook-search.ts';
import { webhookPage } from './webhook-page.ts';
import { webhooksPage } from './webhooks-page.ts';

/** The confirmations of actions, by the value of `done` in the URL. */
const CONFIRMATIONS = {
  redelivered: 'It is due now.',
  recovering: 'What failed is being sent again.',
} as const;
const MAX_RECOVERIES = 5;
const NEWEST_CHANGES = { limit: 5, sort: 'createdAt.desc' } as const;
const REFRESH_SECONDS = 3;

/** Webhooks of all workspaces, and their deliveries. */
@Controller('webhooks')
export class WebhooksController {
  constructor(
    private readonly search: WebhookSearchStore,
    private readonly workspaces: WorkspaceStore,
    private readonly deliveries: ReadDeliveries,
    private readonly recoveries: RecoveryStore,
    private readonly auditLog: AuditLogStore,
    private readonly reader: WebhookReader,
  ) {}

  @Get()
  async find(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const result = await runSearch(WEBHOOK_FIELDS, query, response, (input) =>
      this.search.list(input.pageRequest('wh'), webhookFilter(input)),
    );
    const workspaces = await readWorkspaces(this.workspaces, result.found?.items);
    const content = webhooksPage({ ...result, workspaces });
    return renderPage(response, { title: 'Webhooks', section: 'Webhooks', content });
  }

  @Get(':webhook_id')
  async show(
    @Param('webhook_id') text: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const account = accountOf(response.req);
    const webhook = await this.reader.find(text);
    const { id, workspaceId } = webhook;
    const [workspace, recoveries, changes] = await Promise.all([
      this.workspaces.find(workspaceId),
      this.recoveries.list(workspaceId, id, MAX_RECOVERIES),
      this.auditLog.list(workspaceId, NEWEST_CHANGES, { subjectId: id }),
    ]);
    const deliveries = await runSearch(DELIVERY_FIELDS, query, response, (input) =>
      this.deliveries.list(workspaceId, id, input.pageRequest('dlv'), deliveryFilter(input)),
    );
    const done = confirmationIn(query, CONFIRMATIONS);
    const shown = {
      webhook,
      workspace: workspace!,
      changes: changes.items,
      recoveries,
      deliveries,
      account,
      done,
    };
    // Reloads only for the operator who has just begun the recovery: otherwise it would empty forms that others are filling in.
    const runs = done === CONFIRMATIONS.recovering && recoveries.some(({ state }) => state !== 'COMPLETED');
    const refreshSeconds = runs ? REFRESH_SECONDS : undefined;
    const content = webhookPage(shown);
    return renderPage(response, {
      title: `Webhook at ${new URL(webhook.url).host}`,
      section: 'Webhooks',
      content,
      refreshSeconds,
    });
  }

  @Get(':webhook_id/deliveries/:delivery_id')
  async delivery(
    @Param('webhook_id') webhookText: string,
    @Param('delivery_id') text: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const account = accountOf(response.req);
    const { webhook, id } = await this.reader.locate(webhookText, text);
    const delivery = orNotFound(await this.deliveries.read(webhook.workspaceId, webhook.id, id), NO_DELIVERY);
    const content = deliveryPage({ webhook, delivery, account, done: confirmationIn(query, CONFIRMATIONS) });
    return renderPage(response, {
      title: `${delivery.event} to ${new URL(webhook.url).host}`,
      section: 'Webhooks',
      content,
    });
  }
}

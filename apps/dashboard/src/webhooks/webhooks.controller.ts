import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { RecoveryStore, WebhookSearchStore, WorkspaceStore } from '@posthorn/database';
import { ReadDeliveries } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { doneIn } from '../pages/done.ts';
import { renderPage } from '../pages/page.ts';
import { searched } from '../pages/searched.ts';
import { thatIsThere } from '../pages/that-is-there.ts';
import { accountOf } from '../sign-in/entrance.ts';
import { deliveryPage } from './delivery-page.ts';
import { NO_DELIVERY, WebhookReader } from './webhook-reader.ts';
import { DELIVERY_FIELDS, deliveryFilter, WEBHOOK_FIELDS, webhookFilter } from './webhook-search.ts';
import { webhookPage } from './webhook-page.ts';
import { webhooksPage } from './webhooks-page.ts';

/** The sentence that confirms each action, by the word in the address that it redirects to. */
const DONE = {
  redelivered: 'It is due now.',
  recovering: 'What failed is being sent again.',
} as const;
const MAX_RECOVERIES = 5;
const REFRESH_SECONDS = 3;

/** Webhooks and their deliveries, as those see them who run the installation. */
@Controller('webhooks')
export class WebhooksController {
  constructor(
    private readonly search: WebhookSearchStore,
    private readonly workspaces: WorkspaceStore,
    private readonly deliveries: ReadDeliveries,
    private readonly recoveries: RecoveryStore,
    private readonly reader: WebhookReader,
  ) {}

  @Get()
  async find(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const workspaces = await this.workspaces.list();
    const result = await searched(WEBHOOK_FIELDS, query, response, (given) =>
      this.search.list(webhookFilter(given), given.page('wh')),
    );
    const content = webhooksPage({ ...result, workspaces });
    return renderPage(response, { title: 'Webhooks', part: 'Webhooks', content });
  }

  @Get(':webhook_id')
  async show(
    @Param('webhook_id') text: string,
    @Query() query: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const account = accountOf(request);
    const webhook = await this.reader.find(text);
    const { id, workspaceId } = webhook;
    const [workspace, recoveries] = await Promise.all([
      this.workspaces.find(workspaceId),
      this.recoveries.list(workspaceId, id, MAX_RECOVERIES),
    ]);
    const deliveries = await searched(DELIVERY_FIELDS, query, response, (given) =>
      this.deliveries.list(workspaceId, id, deliveryFilter(given), given.page('dlv')),
    );
    const done = doneIn(query, DONE);
    const shown = { webhook, workspace: workspace!, recoveries, deliveries, account, done };
    // Only for who has just begun it: whoever fills in a form here would have to begin anew every few seconds.
    const runs = done === DONE.recovering && recoveries.some(({ state }) => state !== 'COMPLETED');
    const refreshSeconds = runs ? REFRESH_SECONDS : undefined;
    const content = webhookPage(shown);
    return renderPage(response, {
      title: `Webhook at ${new URL(webhook.url).host}`,
      part: 'Webhooks',
      content,
      refreshSeconds,
    });
  }

  @Get(':webhook_id/deliveries/:delivery_id')
  async delivery(
    @Param('webhook_id') webhookText: string,
    @Param('delivery_id') text: string,
    @Query() query: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const account = accountOf(request);
    const { webhook, id } = await this.reader.locate(webhookText, text);
    const delivery = thatIsThere(
      await this.deliveries.read(webhook.workspaceId, webhook.id, id),
      NO_DELIVERY,
    );
    const content = deliveryPage({ webhook, delivery, account, done: doneIn(query, DONE) });
    return renderPage(response, {
      title: `${delivery.event} to ${new URL(webhook.url).host}`,
      part: 'Webhooks',
      content,
    });
  }
}

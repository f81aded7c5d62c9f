import { Controller, type HttpRedirectResponse, Param, Post, Redirect, Req } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { RecoverDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';
import type { Request } from 'express';
import { doneAt } from '../pages/done.ts';
import { Given } from '../pages/given.ts';
import { thatIsThere } from '../pages/that-is-there.ts';
import { operatorOf } from '../sign-in/entrance.ts';
import { NO_DELIVERY, NO_WEBHOOK, WebhookReader } from './webhook-reader.ts';

/** What operators do with deliveries; each act is told to the audit log of the workspace, with the name of the operator. */
@Controller('webhooks')
export class WebhookActsController {
  constructor(
    private readonly again: SendDeliveriesAgain,
    private readonly recoveries: RecoverDeliveries,
    private readonly reader: WebhookReader,
  ) {}

  @Post(':webhook_id/deliveries/:delivery_id/redeliver')
  @Redirect()
  async redeliver(
    @Param('webhook_id') webhookText: string,
    @Param('delivery_id') text: string,
    @Req() request: Request,
  ): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { webhook, id } = await this.reader.locate(webhookText, text);
    thatIsThere(await this.again.sendAgain(webhook.workspaceId, webhook.id, id, actor), NO_DELIVERY);
    return doneAt(`/webhooks/${webhook.id}/deliveries/${id}`, 'redelivered');
  }

  @Post(':webhook_id/recover')
  @Redirect()
  async recover(@Param('webhook_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.find(text);
    const given = new Given(request.body);
    const since = given.moment('since');
    if (since === undefined)
      throw new Refusal(400, '`since` is missing; give the time since which deliveries have failed');
    const wanted = { since, until: given.moment('until') };
    thatIsThere(await this.recoveries.begin(workspaceId, id, actor, wanted), NO_WEBHOOK);
    return doneAt(`/webhooks/${id}`, 'recovering');
  }
}

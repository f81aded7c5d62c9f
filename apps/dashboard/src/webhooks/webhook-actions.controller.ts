import { Controller, type HttpRedirectResponse, Param, Post, Redirect, Req } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { RecoverDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';
import type { Request } from 'express';
import { redirectWithConfirmation } from '../pages/confirmation.ts';
import { FormInput } from '../pages/form-input.ts';
import { orNotFound } from '../pages/refusals.ts';
import { operatorOf } from '../sign-in/session-guard.ts';
import { NO_DELIVERY, NO_WEBHOOK, WebhookReader } from './webhook-reader.ts';

/** Actions of operators on deliveries. Each is recorded in the audit log of the workspace, with the operator's name. */
@Controller('webhooks')
export class WebhookActionsController {
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
    orNotFound(await this.again.sendAgain(webhook.workspaceId, actor, webhook.id, id), NO_DELIVERY);
    return redirectWithConfirmation(`/webhooks/${webhook.id}/deliveries/${id}`, 'redelivered');
  }

  @Post(':webhook_id/recover')
  @Redirect()
  async recover(@Param('webhook_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.find(text);
    const input = new FormInput(request.body);
    const since = input.time('since');
    if (since === undefined)
      throw new Refusal(400, '`since` is missing; give the time since which deliveries have failed');
    const wanted = { since, until: input.time('until') };
    orNotFound(await this.recoveries.begin(workspaceId, actor, id, wanted), NO_WEBHOOK);
    return redirectWithConfirmation(`/webhooks/${id}`, 'recovering');
  }
}

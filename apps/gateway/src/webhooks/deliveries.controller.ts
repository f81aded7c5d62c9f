import { Controller, Get, Query } from '@nestjs/common';
import type { DeliveryId, WebhookId } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { DisconnectSignal } from '@posthorn/platform';
import { ReadDeliveries } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { NO_TIME_BETWEEN } from '../paging/time-range.ts';
import { LargeReads } from '../system/large-reads.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { deliveryFilter, DeliveriesQuery } from './deliveries-query.ts';
import { DeliveriesAnswer, DeliveryAnswer } from './delivery.answers.ts';
import { unknownInWebhook } from './unknown-in-webhook.ts';

/** The deliveries of a webhook. */
@Controller('v1/webhooks')
export class DeliveriesController {
  constructor(
    private readonly deliveries: ReadDeliveries,
    private readonly reads: LargeReads,
  ) {}

  @Get(':webhook_id/deliveries')
  @RequiresScope('user')
  @Describes({
    name: 'listDeliveries',
    tag: 'Webhooks',
    summary: 'List the deliveries of a webhook',
    description:
      'Lists the deliveries of a webhook, newest events first, without bodies and attempts. An item must match all filters. ' +
      'When very few of very many deliveries match, a page can have fewer items than `limit`, or none, although `hasMore` is true: ' +
      'go on with its `startAt`.',
    query: DeliveriesQuery,
    answer: DeliveriesAnswer,
    refuses: { 'No such time': NO_TIME_BETWEEN },
  })
  async list(
    @Caller() { workspaceId }: Principal,
    @PathId('webhook_id') id: WebhookId,
    @Query() query: unknown,
  ): Promise<DeliveriesAnswer> {
    const validated = validateQuery(DeliveriesQuery, query);
    const wanted = [deliveryFilter(validated), pageById('dlv', validated)] as const;
    const deliveries = foundBy('webhook_id', await this.deliveries.list(workspaceId, id, ...wanted));
    return { deliveries };
  }

  @Get(':webhook_id/deliveries/:delivery_id')
  @RequiresScope('user')
  @Describes({
    name: 'readDelivery',
    tag: 'Webhooks',
    summary: 'Read one delivery',
    description: 'Shows the body that is posted, and the result of each attempt.',
    answer: DeliveryAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('webhook_id') webhookId: WebhookId,
    @PathId('delivery_id') id: DeliveryId,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<DeliveryAnswer> {
    const read = (): ReturnType<ReadDeliveries['read']> => this.deliveries.read(workspaceId, webhookId, id);
    const delivery = await this.reads.run(workspaceId, read, gone);
    if (delivery === undefined)
      throw await unknownInWebhook(this.deliveries, workspaceId, webhookId, 'delivery_id');
    return { delivery };
  }
}

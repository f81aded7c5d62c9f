import { Controller, Get, Post, Query } from '@nestjs/common';
import type { DeliveryId, WebhookId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { DisconnectSignal } from '@posthorn/platform';
import { deliveryUnderWay, ReadDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { NO_TIME_BETWEEN } from '../paging/time-range.ts';
import { LargeReads } from '../system/large-reads.ts';
import { OptionalBody, validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { deliveryFilter, DeliveriesQuery } from './deliveries-query.ts';
import { DeliveriesAnswer, DeliveryAnswer } from './delivery.answers.ts';
import { unknownInWebhook } from './unknown-in-webhook.ts';
import { TestWebhookRequest } from './webhook.requests.ts';

/** The deliveries of a webhook, and those on request: tests and redeliveries. */
@Controller('v1/webhooks')
export class DeliveriesController {
  constructor(
    private readonly deliveries: ReadDeliveries,
    private readonly again: SendDeliveriesAgain,
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
    const filter = deliveryFilter(validated);
    const page = await this.deliveries.list(workspaceId, id, pageById('dlv', validated), filter);
    return { deliveries: foundBy('webhook_id', page) };
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
    const read = () => this.deliveries.read(workspaceId, webhookId, id);
    const delivery = await this.reads.run(workspaceId, read, gone);
    if (delivery === undefined)
      throw await unknownInWebhook(this.deliveries, workspaceId, webhookId, 'delivery_id');
    return { delivery };
  }

  @Post(':webhook_id/deliveries/:delivery_id/redeliver')
  @RequiresScope('api_user')
  @Describes({
    name: 'resendDelivery',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description:
      'Posts a delivery again at once, with the same ids and the same body, whether it waits for a retry, succeeded or was given up; it gets all its retries again. ' +
      'While the webhook is not `ACTIVE`, the delivery is held like all others. The answer does not wait for the receiver: read the delivery to see what it said.',
    answer: DeliveryAnswer,
    refuses: { 'Under way': deliveryUnderWay() },
  })
  async redeliver(
    @Caller() caller: Principal,
    @PathId('webhook_id') webhookId: WebhookId,
    @PathId('delivery_id') id: DeliveryId,
  ): Promise<DeliveryAnswer> {
    const { workspaceId } = caller;
    const delivery = await this.again.sendAgain(workspaceId, actorOf(caller), webhookId, id);
    if (delivery === undefined)
      throw await unknownInWebhook(this.deliveries, workspaceId, webhookId, 'delivery_id');
    return { delivery };
  }

  @Post(':webhook_id/test')
  @RequiresScope('api_user')
  @Describes({
    name: 'testWebhook',
    tag: 'Webhooks',
    summary: 'Test a webhook',
    description:
      'Posts an example of an event to this webhook alone, signed and retried like any other, with the header `X-Service-Test: true`. ' +
      'While the webhook is not `ACTIVE`, the delivery is held like all others. The answer does not wait for the receiver: read the delivery to see what it said.',
    body: TestWebhookRequest,
    bodyIsOptional: true,
    answer: DeliveryAnswer,
  })
  async test(
    @Caller() caller: Principal,
    @PathId('webhook_id') id: WebhookId,
    @OptionalBody() body: object,
  ): Promise<DeliveryAnswer> {
    const { event } = validateBody(TestWebhookRequest, body);
    const delivery = foundBy(
      'webhook_id',
      await this.again.sendTest(caller.workspaceId, actorOf(caller), id, event),
    );
    return { delivery };
  }
}

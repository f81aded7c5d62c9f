import { Controller, Post } from '@nestjs/common';
import type { DeliveryId, WebhookId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { deliveryUnderWay, ReadDeliveries, SendDeliveriesAgain } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { validateBody } from '../validation/validate-body.ts';
import { OptionalBody } from '../validation/optional-body.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { DeliveryAnswer } from './delivery.answers.ts';
import { TestWebhookRequest } from './test-webhook.request.ts';
import { unknownInWebhook } from './unknown-in-webhook.ts';

/** Deliveries on request: tests and redeliveries. */
@Controller('v1/webhooks')
export class ManualDeliveriesController {
  constructor(
    private readonly again: SendDeliveriesAgain,
    private readonly deliveries: ReadDeliveries,
  ) {}

  @Post(':webhook_id/deliveries/:delivery_id/redeliver')
  @RequiresScope('api_user')
  @Describes({
    name: 'redeliver',
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
    const delivery = await this.again.sendAgain(workspaceId, webhookId, id, actorOf(caller));
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
      await this.again.sendTest(caller.workspaceId, id, actorOf(caller), event),
    );
    return { delivery };
  }
}

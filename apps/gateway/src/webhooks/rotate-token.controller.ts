import { Controller, Post } from '@nestjs/common';
import type { WebhookId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { ManageWebhooks } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { validateBody } from '../validation/validate-body.ts';
import { OptionalBody } from '../validation/optional-body.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { TokenRotatedAnswer } from './webhook.answers.ts';
import { RotateTokenRequest } from './webhook.requests.ts';
import { webhookView } from './webhook-view.ts';

@Controller('v1/webhooks')
export class RotateTokenController {
  constructor(private readonly webhooks: ManageWebhooks) {}

  @Post(':webhook_id/rotate-token')
  @RequiresScope('api_user')
  @Describes({
    name: 'rotateWebhookToken',
    tag: 'Webhooks',
    summary: 'Replace the token of a webhook',
    description: [
      'Once the call has been answered, `X-Service-Signature` is made with the new token; until the overlap ends, `webhook-signature` has a signature with each of the two tokens. No older token signs.',
      'To repeat a call safely, give the `token`: the one that the webhook already has changes nothing, except that `overlapSeconds: 0` ends the previous one.',
    ].join('\n\n'),
    body: RotateTokenRequest,
    bodyIsOptional: true,
    answer: TokenRotatedAnswer,
  })
  async rotate(
    @Caller() caller: Principal,
    @PathId('webhook_id') id: WebhookId,
    @OptionalBody() body: object,
  ): Promise<TokenRotatedAnswer> {
    const wanted = validateBody(RotateTokenRequest, body);
    const webhook = foundBy(
      'webhook_id',
      await this.webhooks.rotateToken(caller.workspaceId, id, actorOf(caller), wanted),
    );
    return { webhook: webhookView(webhook), previousTokenUntil: webhook.previousTokenUntil };
  }
}

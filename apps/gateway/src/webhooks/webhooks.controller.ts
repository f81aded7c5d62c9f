import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { WebhookId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { HELD_DAYS, pageByTime, type Webhook, WORKSPACE_LIMITS } from '@posthorn/domain';
import {
  ManageWebhooks,
  tooManyWebhooks,
  validateWebhookHost,
  type WebhookWithToken,
} from '@posthorn/use-cases';
import { Describes, type Refusals, refusalBy } from '../openapi/describes.ts';
import { PageQuery } from '../paging/page-query.ts';
import { pageByCreationTime } from '../paging/page-request.ts';
import { OptionalBody, validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import {
  type ListedWebhook,
  TokenRotatedAnswer,
  WebhookAnswer,
  WebhookDeletedAnswer,
  WebhooksAnswer,
} from './webhook.answers.ts';
import { CreateWebhookRequest, RotateTokenRequest, UpdateWebhookRequest } from './webhook.requests.ts';

const NOT_PUBLIC: Refusals = {
  'Host not public': refusalBy(() =>
    validateWebhookHost('https://10.0.0.1/', { allowsHttp: false, networks: [] }),
  ),
};

@Controller('v1/webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: ManageWebhooks) {}

  @Get()
  @RequiresScope('api_user')
  @Describes({
    name: 'listWebhooks',
    tag: 'Webhooks',
    summary: 'List webhooks',
    description:
      'Without their tokens. Here `startAt` is the time of the first webhook of the next page. Webhooks created in the same millisecond stay together on a page, which may therefore be longer than `limit`.',
    query: PageQuery,
    answer: WebhooksAnswer,
  })
  async list(@Caller() { workspaceId }: Principal, @Query() query: unknown): Promise<WebhooksAnswer> {
    const request = pageByCreationTime(validateQuery(PageQuery, query));
    const page = pageByTime(await this.webhooks.list(workspaceId), request);
    return { webhooks: { ...page, items: page.items.map(listedWebhookView) } };
  }

  @Get(':webhook_id')
  @RequiresScope('user')
  @Describes({
    name: 'readWebhook',
    tag: 'Webhooks',
    summary: 'Read one webhook',
    answer: WebhookAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('webhook_id') id: WebhookId,
  ): Promise<WebhookAnswer> {
    return answerOf(await this.webhooks.read(workspaceId, id));
  }

  @Post()
  @RequiresScope('api_user')
  @Describes({
    name: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Create a webhook',
    description: `From now on the named events of the workspace are posted to the URL, signed with the token, or held if the webhook is \`PAUSED\`. A workspace has at most ${WORKSPACE_LIMITS.webhooks} webhooks.`,
    body: CreateWebhookRequest,
    answer: WebhookAnswer,
    refuses: { ...NOT_PUBLIC, 'Too many webhooks': tooManyWebhooks() },
  })
  async create(@Caller() caller: Principal, @Body() body: unknown): Promise<WebhookAnswer> {
    const wanted = validateBody(CreateWebhookRequest, body);
    return answerOf(await this.webhooks.create(caller.workspaceId, actorOf(caller), wanted));
  }

  @Post(':webhook_id')
  @RequiresScope('api_user')
  @Describes({
    name: 'updateWebhook',
    tag: 'Webhooks',
    summary: 'Change a webhook',
    description: `Changes the fields that are given and keeps the others, so an empty body changes nothing. Events that happen while a webhook is \`PAUSED\` are held for ${HELD_DAYS} days and delivered once it is \`ACTIVE\` again.`,
    body: UpdateWebhookRequest,
    answer: WebhookAnswer,
    refuses: NOT_PUBLIC,
  })
  async update(
    @Caller() caller: Principal,
    @PathId('webhook_id') id: WebhookId,
    @Body() body: unknown,
  ): Promise<WebhookAnswer> {
    const wanted = validateBody(UpdateWebhookRequest, body);
    return answerOf(await this.webhooks.update(caller.workspaceId, actorOf(caller), id, wanted));
  }

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
      await this.webhooks.rotateToken(caller.workspaceId, actorOf(caller), id, wanted),
    );
    return { ...answerOf(webhook), previousTokenUntil: webhook.previousTokenUntil };
  }

  @Delete(':webhook_id')
  @RequiresScope('api_user')
  @Describes({
    name: 'deleteWebhook',
    tag: 'Webhooks',
    summary: 'Delete a webhook',
    description: 'Deletes the webhook permanently, with the deliveries that wait for it.',
    answer: WebhookDeletedAnswer,
  })
  async delete(
    @Caller() caller: Principal,
    @PathId('webhook_id') id: WebhookId,
  ): Promise<WebhookDeletedAnswer> {
    const deleted = await this.webhooks.delete(caller.workspaceId, actorOf(caller), id);
    return { ...answerOf(deleted), isDeleted: true };
  }
}

/** The API representation of a webhook in a list (F7). */
function listedWebhookView({ id, url, events, status, createdAt }: Webhook): ListedWebhook {
  return { id, url, events, status, createdAt };
}

/** The API representation of a webhook (F7). @throws Refusal 404 when there is none */
function answerOf(found: WebhookWithToken | undefined): WebhookAnswer {
  const webhook = foundBy('webhook_id', found);
  return { webhook: { ...listedWebhookView(webhook), token: webhook.token } };
}

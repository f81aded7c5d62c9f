import { Body, Controller, Get, Post } from '@nestjs/common';
import type { RecoveryId, WebhookId } from '@posthorn/kernel';
import { RECOVERIES_KEPT_DAYS, type Recovery } from '@posthorn/domain';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { RecoveryStore } from '@posthorn/database';
import { noSuchPeriod, ReadDeliveries, RecoverDeliveries, recoveryRuns } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { dateOf } from '../paging/time-range.ts';
import { validateBody } from '../validation/validate-body.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { type Recovery as ShownRecovery, RecoveryAnswer } from './recovery.answers.ts';
import { unknownInWebhook } from './unknown-in-webhook.ts';
import { RecoverRequest } from './webhook.requests.ts';

/** Recoveries: sending all failed deliveries of a time range again. */
@Controller('v1/webhooks')
export class RecoveriesController {
  constructor(
    private readonly recoverDeliveries: RecoverDeliveries,
    private readonly recoveries: RecoveryStore,
    private readonly deliveries: ReadDeliveries,
  ) {}

  @Post(':webhook_id/recover')
  @RequiresScope('api_user')
  @Describes({
    name: 'recoverDeliveries',
    tag: 'Webhooks',
    summary: 'Send failed deliveries again',
    description:
      'Sends again all deliveries of a period that are `EXHAUSTED` or wait for a retry, with the same ids and bodies and with all their retries again. They become due one group at a time, ' +
      'so that the webhook still gets new events; read the recovery to see its progress. A webhook has one recovery at a time: ' +
      'if you ask for the same period again while it runs, the answer shows the running one.',
    body: RecoverRequest,
    answer: RecoveryAnswer,
    refuses: {
      'No such time': noSuchPeriod(),
      'Another one runs': recoveryRuns({ id: 'rcv_01m7yxt5zwexraawhax4wxnnqq' as RecoveryId }),
    },
  })
  async recover(
    @Caller() caller: Principal,
    @PathId('webhook_id') id: WebhookId,
    @Body() body: unknown,
  ): Promise<RecoveryAnswer> {
    const { since, until } = validateBody(RecoverRequest, body);
    const wanted = { since: dateOf(since), until: until === undefined ? undefined : dateOf(until) };
    const recovery = foundBy(
      'webhook_id',
      await this.recoverDeliveries.begin(caller.workspaceId, actorOf(caller), id, wanted),
    );
    return { recovery: recoveryView(recovery) };
  }

  @Get(':webhook_id/recoveries/:recovery_id')
  @RequiresScope('user')
  @Describes({
    name: 'readRecovery',
    tag: 'Webhooks',
    summary: 'Read the progress of a recovery',
    description: `It can be read for ${RECOVERIES_KEPT_DAYS} days after it is completed.`,
    answer: RecoveryAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('webhook_id') webhookId: WebhookId,
    @PathId('recovery_id') id: RecoveryId,
  ): Promise<RecoveryAnswer> {
    const recovery = await this.recoveries.find(workspaceId, webhookId, id);
    if (recovery === undefined)
      throw await unknownInWebhook(this.deliveries, workspaceId, webhookId, 'recovery_id');
    return { recovery: recoveryView(recovery) };
  }
}

/** The API representation of a recovery; its state is called `status`, as everywhere in the API. */
function recoveryView(recovery: Recovery): ShownRecovery {
  const { id, webhookId, state, since, until, total, done, createdAt, finishedAt } = recovery;
  return { id, webhookId, status: state, since, until, total, done, createdAt, finishedAt };
}

import { Controller, HttpCode, Inject, Post } from '@nestjs/common';
import type { IdentityId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresEditor } from '@posthorn/auth';
import { orUnavailable, RotateKeys } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { PathId, unknownId } from '../validation/path-ids.ts';
import { TakesNoBody } from '../validation/takes-no-body.ts';
import { SPF_INCLUDE } from './identities.controller.ts';
import { ROTATE_REFUSALS } from './identity-refusals.ts';
import { identityWithRecordsView } from './identity-view.ts';
import { IdentityAnswer } from './identity.answers.ts';

@Controller('v1/identities')
export class RotateKeysController {
  constructor(
    private readonly rotateKeys: RotateKeys,
    @Inject(SPF_INCLUDE) private readonly spfInclude: string | undefined,
  ) {}

  @Post(':identity_id/rotate-keys')
  @RequiresEditor()
  @TakesNoBody()
  @HttpCode(200)
  @Describes({
    name: 'rotateIdentityKeys',
    tag: 'Identities',
    summary: 'Give a domain other DKIM keys',
    description:
      'Makes a new pair of keys with names of its own, and lists its records as `NEXT`. Set them beside the present ones, which sign until then: an hour after a new record is first found, ' +
      'its key becomes `CURRENT`, and the one before `PREVIOUS`. The records of previous keys must stay for seven days (`keepUntil`), for emails that are still on their way. ' +
      'A key that was never published is replaced at once. Asked again while new keys are waited for, the call changes nothing.',
    answer: IdentityAnswer,
    refuses: ROTATE_REFUSALS,
  })
  async rotate(@Caller() caller: Principal, @PathId('identity_id') id: IdentityId): Promise<IdentityAnswer> {
    const { workspaceId } = caller;
    const identity = await orUnavailable(this.rotateKeys.rotate(workspaceId, actorOf(caller), id));
    if (identity === undefined) throw unknownId('identity_id');
    return { identity: identityWithRecordsView(identity, this.spfInclude) };
  }
}

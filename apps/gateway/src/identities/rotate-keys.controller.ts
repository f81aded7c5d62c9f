import { Controller, Post } from '@nestjs/common';
import type { IdentityId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresEditor } from '@posthorn/auth';
import { RotateKeys } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { PathId } from '../validation/path-ids.ts';
import { ROTATE_REFUSALS } from './identity-refusals.ts';
import { IdentityViews } from './identity-views.ts';
import { IdentityAnswer } from './identity.answers.ts';

@Controller('v1/identities')
export class RotateKeysController {
  constructor(
    private readonly rotateKeys: RotateKeys,
    private readonly views: IdentityViews,
  ) {}

  @Post(':identity_id/rotate-keys')
  @RequiresEditor()
  @Describes({
    name: 'rotateIdentityKeys',
    tag: 'Identities',
    summary: 'Give a domain new DKIM keys',
    description:
      'Creates new keys under their own names, and lists their records as `NEXT`. Set them in addition to the current ones, which sign until then: an hour after a new record is first found, ' +
      'its key becomes `CURRENT`, and the one before `PREVIOUS`. The records of previous keys must stay for seven days (`keepUntil`), for emails that are still on their way. ' +
      'A key that was never published is replaced at once. A repeated call changes nothing while Posthorn waits for the new records.',
    answer: IdentityAnswer,
    refuses: ROTATE_REFUSALS,
  })
  async rotate(@Caller() caller: Principal, @PathId('identity_id') id: IdentityId): Promise<IdentityAnswer> {
    const { workspaceId } = caller;
    return this.views.answer(await this.rotateKeys.rotate(workspaceId, actorOf(caller), id));
  }
}

import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { IdentityId } from '@posthorn/kernel';
import { IdentityChanges, IdentityStore } from '@posthorn/database';
import { actorOf, Caller, type Principal, RequiresEditor, RequiresScope } from '@posthorn/auth';
import { CreateIdentity, RotateKeys, VerifyIdentity } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { PageQuery } from '../paging/page-query.ts';
import { pageById } from '../paging/page-request.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { CREATE_REFUSALS, ROTATE_REFUSALS, VERIFY_REFUSALS } from './identity-refusals.ts';
import { identityView, IdentityViews } from './identity-views.ts';
import { IdentitiesAnswer, IdentityAnswer, IdentityDeletedAnswer } from './identity.answers.ts';
import {
  CREATE_IDENTITY_EXAMPLES,
  CreateIdentityRequest,
  validateIdentityRequest,
} from './identity.requests.ts';

/** The addresses and domains that a workspace may send from. */
@Controller('v1/identities')
export class IdentitiesController {
  constructor(
    private readonly identities: IdentityStore,
    private readonly changes: IdentityChanges,
    private readonly createIdentity: CreateIdentity,
    private readonly verifyIdentity: VerifyIdentity,
    private readonly rotateKeys: RotateKeys,
    private readonly views: IdentityViews,
  ) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listIdentities',
    tag: 'Identities',
    summary: 'List the identities',
    description: 'Lists the identities without the records of domains; read one identity to see them.',
    query: PageQuery,
    answer: IdentitiesAnswer,
  })
  async list(@Caller() caller: Principal, @Query() query: unknown): Promise<IdentitiesAnswer> {
    const request = pageById('idn', validateQuery(PageQuery, query));
    const page = await this.identities.page(caller.workspaceId, request);
    return { identities: { ...page, items: page.items.map(identityView) } };
  }

  @Post()
  @RequiresEditor()
  @Describes({
    name: 'createIdentity',
    tag: 'Identities',
    summary: 'Add an address or a domain',
    description:
      'An **address** is sent a mail with a link; opening the link and pressing the button there verifies the address. The link is valid for 24 hours. Emails from an address are signed only if its domain is verified too; without that, receivers refuse them where the domain has the DMARC policy `reject`. ' +
      'For a **domain**, two pairs of DKIM keys are created, and the answer lists the DNS records to set. Publishing the RSA key verifies the domain: once you have set the records, call `verify`. Posthorn also looks for them by itself, first after ten minutes and then at growing intervals for four weeks. ' +
      'The other records are recommended. Several workspaces may have the same domain; each has its own keys and selectors.',
    body: CreateIdentityRequest,
    bodyExamples: CREATE_IDENTITY_EXAMPLES,
    answer: IdentityAnswer,
    refuses: CREATE_REFUSALS,
  })
  async create(@Caller() caller: Principal, @Body() body: unknown): Promise<IdentityAnswer> {
    const request = validateIdentityRequest(body);
    const { workspaceId } = caller;
    const { id } = await this.createIdentity.create(workspaceId, actorOf(caller), request);
    return this.views.answer(await this.identities.find(workspaceId, id));
  }

  @Get(':identity_id')
  @RequiresScope('user')
  @Describes({
    name: 'readIdentity',
    tag: 'Identities',
    summary: 'Read an identity',
    description: 'Shows an identity; for a domain, also its expected records and what was found in the DNS.',
    answer: IdentityAnswer,
  })
  async read(@Caller() caller: Principal, @PathId('identity_id') id: IdentityId): Promise<IdentityAnswer> {
    return this.views.answer(await this.identities.find(caller.workspaceId, id));
  }

  @Post(':identity_id/verify')
  @RequiresEditor()
  @Describes({
    name: 'verifyIdentity',
    tag: 'Identities',
    summary: 'Verify an identity now',
    description:
      'Looks up the records of a **domain** and shows for each what was found and what was expected; a second call within five seconds gets the same result. ' +
      'An **address** that is not verified yet is mailed a new link.',
    answer: IdentityAnswer,
    refuses: VERIFY_REFUSALS,
  })
  async verify(@Caller() caller: Principal, @PathId('identity_id') id: IdentityId): Promise<IdentityAnswer> {
    const { workspaceId } = caller;
    return this.views.answer(await this.verifyIdentity.verify(workspaceId, actorOf(caller), id));
  }

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

  @Delete(':identity_id')
  @RequiresEditor()
  @Describes({
    name: 'deleteIdentity',
    tag: 'Identities',
    summary: 'Delete an identity',
    description:
      'Deletes the identity permanently, with the keys of a domain: no call that begins after the answer can send from it. Emails accepted before are still sent.',
    answer: IdentityDeletedAnswer,
  })
  async delete(
    @Caller() caller: Principal,
    @PathId('identity_id') id: IdentityId,
  ): Promise<IdentityDeletedAnswer> {
    const deleted = await this.changes.delete(caller.workspaceId, actorOf(caller), id);
    return { identity: identityView(foundBy('identity_id', deleted)), isDeleted: true };
  }
}

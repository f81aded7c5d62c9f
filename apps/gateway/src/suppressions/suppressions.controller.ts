import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { SuppressionId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import type { Suppression } from '@posthorn/domain';
import { SuppressionChanges, SuppressionStore } from '@posthorn/database';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { addressIn } from '../validation/mailbox-rules.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import {
  type Suppression as ShownSuppression,
  SuppressionAddedAnswer,
  SuppressionAnswer,
  SuppressionDeletedAnswer,
  SuppressionsAnswer,
} from './suppression.answers.ts';
import { AddSuppressionRequest, SuppressionsQuery } from './suppression.requests.ts';

@Controller('v1/suppressions')
export class SuppressionsController {
  constructor(
    private readonly suppressions: SuppressionStore,
    private readonly changes: SuppressionChanges,
  ) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listSuppressions',
    tag: 'Suppressions',
    summary: 'List suppressed addresses, or look one up',
    description: 'An empty page for an `email` means that it is not suppressed.',
    query: SuppressionsQuery,
    answer: SuppressionsAnswer,
  })
  async list(@Caller() { workspaceId }: Principal, @Query() query: unknown): Promise<SuppressionsAnswer> {
    const { email, reason, ...page } = validateQuery(SuppressionsQuery, query);
    const filter = { reason, email: email === undefined ? undefined : addressIn(email) };
    const found = await this.suppressions.list(workspaceId, pageById('sup', page), filter);
    return { suppressions: { ...found, items: found.items.map(suppressionView) } };
  }

  @Get(':suppression_id')
  @RequiresScope('user')
  @Describes({
    name: 'readSuppression',
    tag: 'Suppressions',
    summary: 'Read one entry of the list',
    answer: SuppressionAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('suppression_id') id: SuppressionId,
  ): Promise<SuppressionAnswer> {
    return answerOf(await this.suppressions.find(workspaceId, id));
  }

  @Post()
  @RequiresScope('api_user')
  @Describes({
    name: 'addSuppression',
    tag: 'Suppressions',
    summary: 'Suppress an address',
    description:
      'From now on the workspace sends no email to this address; one that is due becomes `SUPPRESSED` instead. Nothing changes if the address is already on the list, whatever its letter case.',
    body: AddSuppressionRequest,
    answer: SuppressionAddedAnswer,
  })
  async add(@Caller() caller: Principal, @Body() body: unknown): Promise<SuppressionAddedAnswer> {
    const { email, reason } = validateBody(AddSuppressionRequest, body);
    const wanted = { email: addressIn(email), reason };
    const added = await this.changes.add(caller.workspaceId, actorOf(caller), wanted);
    return { suppression: suppressionView(added.suppression), isCreated: added.isCreated };
  }

  @Delete(':suppression_id')
  @RequiresScope('api_user')
  @Describes({
    name: 'removeSuppression',
    tag: 'Suppressions',
    summary: 'Remove an address from the list',
    description:
      'From now on emails are sent to this address again. The next hard bounce adds it to the list again.',
    answer: SuppressionDeletedAnswer,
  })
  async remove(
    @Caller() caller: Principal,
    @PathId('suppression_id') id: SuppressionId,
  ): Promise<SuppressionDeletedAnswer> {
    const removed = await this.changes.remove(caller.workspaceId, actorOf(caller), id);
    return { ...answerOf(removed), isDeleted: true };
  }
}

/** @throws Refusal 404 when there is none */
function answerOf(suppression: Suppression | undefined): SuppressionAnswer {
  return { suppression: suppressionView(foundBy('suppression_id', suppression)) };
}

/** The API representation of an entry. */
function suppressionView(suppression: Suppression): ShownSuppression {
  const { id, email, reason, emailId, createdBy, createdAt } = suppression;
  return { id, email, reason, emailId, createdBy, createdAt };
}

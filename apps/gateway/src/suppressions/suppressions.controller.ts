import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { SuppressionId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { SIZES, type Suppression } from '@posthorn/domain';
import { SuppressionChanges, SuppressionStore } from '@posthorn/database';
import { Describes, refusalBy } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { ItemBatches } from '../validation/item-batches.ts';
import { validateBody } from '../validation/validate-body.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { addressIn } from '../validation/mailbox-rules.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import {
  type Suppression as ShownSuppression,
  SuppressionAddedAnswer,
  SuppressionAnswer,
  SuppressionBatchAnswer,
  SuppressionDeletedAnswer,
  SuppressionsAnswer,
} from './suppression.answers.ts';
import {
  AddSuppressionRequest,
  AddSuppressionsRequest,
  SuppressionsQuery,
  validateSuppression,
} from './suppression.requests.ts';

@Controller('v1/suppressions')
export class SuppressionsController {
  constructor(
    private readonly suppressions: SuppressionStore,
    private readonly changes: SuppressionChanges,
    private readonly batches: ItemBatches,
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
    const wanted = validateSuppression(body);
    const added = await this.changes.add(caller.workspaceId, actorOf(caller), wanted);
    return { suppression: suppressionView(added.suppression), isCreated: added.isCreated };
  }

  @Post('batch')
  @RequiresScope('api_user')
  @Describes({
    name: 'addSuppressions',
    tag: 'Suppressions',
    summary: `Suppress up to ${SIZES.suppressionBatch.max} addresses`,
    description:
      'Validates each item on its own, and adds all valid ones in one transaction. Status 200 means that the array itself was valid. ' +
      'The answer has the result of each item: its entry is in `successful`, as it was if the address is already on the list, or the item is in `failed`, with its `index` and the error that it would have got if sent alone. ' +
      'Repeating the batch changes nothing more.',
    body: AddSuppressionsRequest,
    answer: SuppressionBatchAnswer,
    refuses: {
      'Too many addresses': refusalBy(() =>
        validateBody(AddSuppressionsRequest, { suppressions: Array(501).fill({}) }),
      ),
    },
  })
  async addAll(@Caller() caller: Principal, @Body() body: unknown): Promise<SuppressionBatchAnswer> {
    const { suppressions } = validateBody(AddSuppressionsRequest, body);
    const { successful, failed } = await this.batches.write(suppressions, {
      noun: 'suppression',
      validate: validateSuppression,
      write: (wanted) => this.changes.addAll(caller.workspaceId, actorOf(caller), wanted),
    });
    return {
      suppressions: { successful: successful.map(({ suppression }) => suppressionView(suppression)), failed },
    };
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

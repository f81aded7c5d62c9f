import { Body, Controller, Get, Post } from '@nestjs/common';
import type { ErasureId } from '@posthorn/kernel';
import { type Erasure, ERASURES_KEPT_DAYS } from '@posthorn/domain';
import { actorOf, Caller, type Principal, RequiresEditor, RequiresScope } from '@posthorn/auth';
import { ErasureStore } from '@posthorn/database';
import { RequestErasure, tooManyErasures } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { addressIn } from '../validation/mailbox-rules.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { validateBody } from '../validation/validate-body.ts';
import { type Erasure as ShownErasure, ErasureAnswer } from './erasure.answers.ts';
import { EraseRequest } from './erasure.requests.ts';

/** Erasures: removing all that a workspace has about a person. */
@Controller('v1/erasures')
export class ErasuresController {
  constructor(
    private readonly requestErasure: RequestErasure,
    private readonly erasures: ErasureStore,
  ) {}

  @Post()
  @RequiresEditor()
  @Describes({
    name: 'requestErasure',
    tag: 'Erasures',
    summary: 'Erase a person',
    description:
      'Erases all that the workspace has about an address, for good. The contact, the entry of the suppression list and open invitations are deleted at once; ' +
      'emails to the person with content and timeline, and events about them, are deleted after that, and scheduled emails are cancelled. Everywhere else, `[erased]` replaces the address. ' +
      'This searches everything that the workspace has, one group at a time; read the erasure to see its progress. A workspace’s erasures are done one after another, and it can have 100 that are not completed. ' +
      'If you request the same person again before it is completed, the answer shows the same one, and everything is searched again. Emails to the person, contacts and events of them that are added after the request stay. No event is caused: it would contain the address.',
    body: EraseRequest,
    answer: ErasureAnswer,
    exampleOverrides: {
      'erasure.status': 'REMOVING',
      'erasure.searched': 0,
      'erasure.deleted': { contacts: 1 },
      'erasure.redacted': {},
      'erasure.left': {},
      'erasure.cancelled': 0,
    },
    refuses: { 'Too many erasures': tooManyErasures() },
  })
  async erase(@Caller() caller: Principal, @Body() body: unknown): Promise<ErasureAnswer> {
    const { email, suppress } = validateBody(EraseRequest, body);
    const order = { address: addressIn(email), isSuppressing: suppress };
    const erasure = await this.requestErasure.begin(caller.workspaceId, actorOf(caller), order);
    return { erasure: erasureView(erasure) };
  }

  @Get(':erasure_id')
  @RequiresScope('user')
  @Describes({
    name: 'readErasure',
    tag: 'Erasures',
    summary: 'Read the progress of an erasure',
    description: `It can be read for ${ERASURES_KEPT_DAYS} days after it is completed.`,
    answer: ErasureAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('erasure_id') id: ErasureId,
  ): Promise<ErasureAnswer> {
    return { erasure: erasureView(foundBy('erasure_id', await this.erasures.find(workspaceId, id))) };
  }
}

/** The API representation of an erasure; its state is called `status`, as everywhere in the API. */
function erasureView(erasure: Erasure): ShownErasure {
  return {
    id: erasure.id,
    recipient: erasure.recipient,
    suppress: erasure.isSuppressing,
    status: erasure.state,
    searched: erasure.searched,
    deleted: byKind(erasure.deleted),
    redacted: byKind(erasure.redacted),
    left: byKind(erasure.remaining),
    isRemembered: erasure.isRemembered,
    cancelled: erasure.cancelled,
    inProgress: erasure.inProgress,
    createdAt: erasure.createdAt,
    finishedAt: erasure.finishedAt,
  };
}

/** Counts by table, with names in the notation of the API. */
function byKind(counts: Readonly<Record<string, number>>): Record<string, number> {
  const kindOf = (table: string): string =>
    table.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(counts).map(([table, count]) => [kindOf(table), count]));
}

import {
  Controller,
  Get,
  type HttpRedirectResponse,
  Param,
  Post,
  Query,
  Redirect,
  Req,
  Res,
} from '@nestjs/common';
import { parseId } from '@posthorn/kernel';
import type { Page, Suppression } from '@posthorn/domain';
import {
  SuppressionChanges,
  SuppressionSearchStore,
  SuppressionStore,
  WorkspaceStore,
} from '@posthorn/database';
import type { Request, Response } from 'express';
import { doneIn, doneAt } from '../pages/done.ts';
import { Given } from '../pages/given.ts';
import { renderPage } from '../pages/page.ts';
import { searched } from '../pages/searched.ts';
import { thatIsThere } from '../pages/that-is-there.ts';
import { accountOf, operatorOf } from '../sign-in/entrance.ts';
import { SUPPRESSION_FIELDS, wantedSuppression } from './suppression-search.ts';
import { suppressionsPage } from './suppressions-page.ts';

/** What an act is told of with, by the word in the address that it leads to. */
const DONE = {
  added: 'It was put on the list: what is sent to this address from now on does not leave.',
  kept: 'It is on the list already, and stays as it is.',
  removed: 'It was taken off the list: what is sent to this address from now on leaves again.',
} as const;

const NO_SUPPRESSION = 'There is no suppression with this id any more';

/** The addresses that nothing is sent to, as those see them who run the installation. */
@Controller('suppressions')
export class SuppressionsController {
  constructor(
    private readonly search: SuppressionSearchStore,
    private readonly suppressions: SuppressionStore,
    private readonly changes: SuppressionChanges,
    private readonly workspaces: WorkspaceStore,
  ) {}

  @Get()
  async find(
    @Query() query: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const account = accountOf(request);
    const workspaces = await this.workspaces.list();
    const result = await searched(SUPPRESSION_FIELDS, query, response, (given) => this.pageOf(given));
    const content = suppressionsPage({ ...result, workspaces, account, done: doneIn(query, DONE) });
    return renderPage(response, { title: 'Suppressions', part: 'Suppressions', content });
  }

  @Post()
  @Redirect()
  async add(@Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { workspaceId, ...wanted } = wantedSuppression(new Given(request.body));
    thatIsThere(await this.workspaces.find(workspaceId), 'There is no workspace with this id');
    const { isCreated } = await this.changes.add(workspaceId, actor, wanted);
    const asked = { email: wanted.email, workspace: workspaceId };
    return doneAt('/suppressions', isCreated ? 'added' : 'kept', asked);
  }

  @Post(':suppression_id/remove')
  @Redirect()
  async remove(
    @Param('suppression_id') text: string,
    @Req() request: Request,
  ): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const id = thatIsThere(parseId('sup', text), NO_SUPPRESSION);
    const workspaceId = thatIsThere(await this.search.workspaceOf(id), NO_SUPPRESSION);
    thatIsThere(await this.changes.remove(workspaceId, id, actor), NO_SUPPRESSION);
    return doneAt('/suppressions', 'removed');
  }

  private async pageOf(given: Given): Promise<Page<Suppression>> {
    const email = given.address('email');
    const workspaceId = given.id('workspace', 'wrk');
    const page = given.page('sup');
    if (workspaceId === undefined) return this.search.list(email, page);
    return this.suppressions.list(workspaceId, page, { email });
  }
}

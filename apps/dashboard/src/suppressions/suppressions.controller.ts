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
import type { Actor, Page, Suppression } from '@posthorn/domain';
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
import { refused } from '../pages/refused.ts';
import { searched } from '../pages/searched.ts';
import { thatIsThere } from '../pages/that-is-there.ts';
import { accountOf, operatorOf } from '../sign-in/entrance.ts';
import { namedIn, placeOf, SUPPRESSION_FIELDS, wantedSuppression } from './suppression-search.ts';
import { suppressionsPage } from './suppressions-page.ts';

/** The sentence that confirms each action, by the word in the address that it redirects to. */
const DONE = {
  added: 'It was put on the list: what is sent to this address from now on does not leave.',
  kept: 'It is on the list already, and stays as it is.',
  gone: 'It is no longer on the list: somebody has taken it off, or the form was sent twice.',
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
    const content = suppressionsPage({
      ...result,
      workspaces,
      account,
      startAt: new Given(query).shown('startAt'),
      done: doneIn(query, DONE),
    });
    return renderPage(response, { title: 'Suppressions', part: 'Suppressions', content });
  }

  /** What is wrong with what was filled in is said above the form, which stays filled. */
  @Post()
  async add(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    const given = new Given(request.body);
    try {
      response.redirect(303, await this.put(given, operatorOf(request)));
      return undefined;
    } catch (error) {
      const fault = refused(error, response);
      const filled = { ...namedIn(given), reason: given.shown('reason'), fault };
      const [workspaces, account] = [await this.workspaces.list(), accountOf(request)];
      const nothing = { asked: { email: undefined, workspace: undefined }, found: undefined };
      const content = suppressionsPage({ ...nothing, workspaces, account, filled });
      return renderPage(response, { title: 'Suppressions', part: 'Suppressions', content });
    }
  }

  @Post(':suppression_id/remove')
  @Redirect()
  async remove(
    @Param('suppression_id') text: string,
    @Req() request: Request,
  ): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const id = thatIsThere(parseId('sup', text), NO_SUPPRESSION);
    const workspaceId = await this.search.workspaceOf(id);
    const removed = workspaceId && (await this.changes.remove(workspaceId, id, actor));
    return doneAt('/suppressions', removed ? 'removed' : 'gone', placeOf(new Given(request.body)));
  }

  /** Where it is seen that an address was put on the list. @throws Refusal for what cannot be put there */
  private async put(given: Given, actor: Actor): Promise<string> {
    const { workspaceId, ...wanted } = wantedSuppression(given);
    thatIsThere(await this.workspaces.find(workspaceId), 'There is no workspace with this id');
    const { isCreated } = await this.changes.add(workspaceId, actor, wanted);
    const asked = { email: wanted.email, workspace: workspaceId };
    return doneAt('/suppressions', isCreated ? 'added' : 'kept', asked).url;
  }

  private async pageOf(given: Given): Promise<Page<Suppression>> {
    const email = given.address('email');
    const workspaceId = given.id('workspace', 'wrk');
    const page = given.page('sup');
    if (workspaceId === undefined) return this.search.list(email, page);
    return this.suppressions.list(workspaceId, page, { email });
  }
}

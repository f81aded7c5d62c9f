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
import { confirmationIn, redirectWithConfirmation } from '../pages/confirmation.ts';
import { FormInput } from '../pages/form-input.ts';
import { renderPage } from '../pages/page.ts';
import { runSearch } from '../pages/search.ts';
import { applyRefusal, orNotFound } from '../pages/refusals.ts';
import { readWorkspaces } from '../pages/workspaces.ts';
import { accountOf, operatorOf } from '../sign-in/session-guard.ts';
import { submittedFields, searchParamsOf, SUPPRESSION_FIELDS, suppressionIn } from './suppression-search.ts';
import { suppressionsPage } from './suppressions-page.ts';

/** The confirmations of actions, by the value of `done` in the URL. */
const CONFIRMATIONS = {
  added: 'It was added to the list: from now on, nothing is sent to this address.',
  kept: 'It is already on the list, and was left unchanged.',
  gone: 'It is no longer on the list: somebody has removed it, or the form was sent twice.',
  removed: 'It was removed from the list: from now on, emails to this address are sent again.',
} as const;

const NO_SUPPRESSION = 'There is no longer a suppression with this id';

/** Suppressions of all workspaces. */
@Controller('suppressions')
export class SuppressionsController {
  constructor(
    private readonly search: SuppressionSearchStore,
    private readonly suppressions: SuppressionStore,
    private readonly changes: SuppressionChanges,
    private readonly workspaces: WorkspaceStore,
  ) {}

  @Get()
  async find(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const account = accountOf(response.req);
    const result = await runSearch(SUPPRESSION_FIELDS, query, response, (input) => this.pageOf(input));
    const workspaces = await readWorkspaces(this.workspaces, result.found?.items);
    const content = suppressionsPage({
      ...result,
      workspaces,
      account,
      startAt: new FormInput(query).redisplay('startAt'),
      done: confirmationIn(query, CONFIRMATIONS),
    });
    return renderPage(response, { title: 'Suppressions', section: 'Suppressions', content });
  }

  /** A refusal is shown above the form, which stays filled. */
  @Post()
  async add(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    const input = new FormInput(request.body);
    try {
      response.redirect(303, await this.put(input, operatorOf(request)));
      return undefined;
    } catch (error) {
      const fault = applyRefusal(error, response);
      const filled = { ...submittedFields(input), reason: input.redisplay('reason'), fault };
      const [workspaces, account] = [await readWorkspaces(this.workspaces), accountOf(request)];
      const nothing = { criteria: { email: undefined, workspace: undefined }, found: undefined };
      const content = suppressionsPage({ ...nothing, workspaces, account, filled });
      return renderPage(response, { title: 'Suppressions', section: 'Suppressions', content });
    }
  }

  @Post(':suppression_id/remove')
  @Redirect()
  async remove(
    @Param('suppression_id') text: string,
    @Req() request: Request,
  ): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const id = orNotFound(parseId('sup', text), NO_SUPPRESSION);
    const workspaceId = await this.search.workspaceOf(id);
    const removed = workspaceId && (await this.changes.remove(workspaceId, actor, id));
    return redirectWithConfirmation(
      '/suppressions',
      removed ? 'removed' : 'gone',
      searchParamsOf(new FormInput(request.body)),
    );
  }

  /** Adds a suppression. @returns the URL of the page that shows it @throws Refusal for invalid input */
  private async put(input: FormInput, actor: Actor): Promise<string> {
    const { workspaceId, ...wanted } = suppressionIn(input);
    orNotFound(await this.workspaces.find(workspaceId), 'There is no workspace with this id');
    const { isCreated } = await this.changes.add(workspaceId, actor, wanted);
    const criteria = { email: wanted.email, workspace: workspaceId };
    return redirectWithConfirmation('/suppressions', isCreated ? 'added' : 'kept', criteria).url;
  }

  private async pageOf(input: FormInput): Promise<Page<Suppression>> {
    const email = input.address('email');
    const workspaceId = input.workspaceId();
    const page = input.pageRequest('sup');
    if (workspaceId === undefined) return this.search.list(page, email);
    return this.suppressions.list(workspaceId, page, { email });
  }
}

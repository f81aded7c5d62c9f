import { Controller, Get, type HttpRedirectResponse, Post, Query, Redirect, Req, Res } from '@nestjs/common';
import type { Page } from '@posthorn/domain';
import { EraStore, type OperatorAccount, PausedLaneStore, WorkspaceStore } from '@posthorn/database';
import { isWhole, pageOfPauses, type Pause, pauseSending, resumeSending } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { redirectWithConfirmation, confirmationIn } from '../pages/confirmation.ts';
import type { Html } from '../pages/html.ts';
import { FormInput } from '../pages/form-input.ts';
import { renderPage } from '../pages/page.ts';
import { runSearch, type SearchResult } from '../pages/search.ts';
import { applyRefusal } from '../pages/refusals.ts';
import { readWorkspaces } from '../pages/workspaces.ts';
import { accountOf, operatorOf } from '../sign-in/session-guard.ts';
import { type FilledForm, pausesPage } from './pauses-page.ts';
import { readWhose } from './whose.ts';

/** The confirmations of actions, by the value of `done` in the URL. */
const CONFIRMATIONS = {
  paused: 'It is paused: it is still accepted, and waits. What is already being sent is finished.',
  kept: 'It was already paused, and keeps its first reason.',
  resumed: 'It was resumed, and leaves within seconds.',
  waits: 'It was resumed, but the emails of all workspaces are still paused.',
  gone: 'It is no longer paused: somebody has resumed it, or the form was sent twice.',
} as const;

/** Pauses of operators. Each action is recorded in the audit log of the workspace, or in that of the system. */
@Controller('pauses')
export class PausesController {
  constructor(
    private readonly pausedLanes: PausedLaneStore,
    private readonly eras: EraStore,
    private readonly workspaces: WorkspaceStore,
  ) {}

  @Get()
  async show(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const workspace = new FormInput(query).redisplay('workspace');
    const done = confirmationIn(query, CONFIRMATIONS);
    const result = await runSearch([], query, response, (input) => this.pageOf(input));
    const startAt = new FormInput(query).redisplay('startAt');
    const content = await this.content(accountOf(response.req), result, {
      startAt,
      filled: { workspace },
      done,
    });
    return renderPage(response, { title: 'What is paused', section: 'Pauses', content });
  }

  /** A refusal is shown above the form, which stays filled. */
  @Post()
  async pause(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    const actor = operatorOf(request);
    const input = new FormInput(request.body);
    try {
      const whose = await readWhose(this.workspaces, input);
      const { wasPaused } = await pauseSending(this.pausedLanes, whose, actor, input.text('reason') ?? '');
      response.redirect(303, redirectWithConfirmation('/pauses', wasPaused ? 'kept' : 'paused').url);
      return undefined;
    } catch (error) {
      const fault = applyRefusal(error, response);
      const [whose, workspace, reason] = ['whose', 'workspace', 'reason'].map((name) =>
        input.redisplay(name),
      );
      const filled = { whose, workspace, reason, fault };
      const result = { criteria: {}, found: await this.pageOf(new FormInput({})) };
      const content = await this.content(accountOf(request), result, { filled });
      return renderPage(response, { title: 'What is paused', section: 'Pauses', content });
    }
  }

  @Post('resume')
  @Redirect()
  async resume(@Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const input = new FormInput(request.body);
    const whose = await readWhose(this.workspaces, input);
    const startAt = input.redisplay('startAt');
    const page = startAt === undefined ? {} : { startAt };
    const { wasPaused, allEmailsArePaused } = await resumeSending(this.pausedLanes, whose, actor, {
      evenIfRestored: false,
    });
    if (!wasPaused) return redirectWithConfirmation('/pauses', 'gone', page);
    return redirectWithConfirmation(
      '/pauses',
      allEmailsArePaused && whose !== 'webhooks' ? 'waits' : 'resumed',
      page,
    );
  }

  private pageOf(input: FormInput): Promise<Page<Pause>> {
    return pageOfPauses(this.pausedLanes, input.pageRequest('wrk'));
  }

  private async content(
    account: OperatorAccount,
    result: SearchResult<never, Pause>,
    {
      filled,
      startAt,
      done,
    }: { filled: FilledForm; startAt?: string | undefined; done?: string | undefined },
  ): Promise<Html> {
    const paused = result.found?.items.flatMap(({ whose }) =>
      isWhole(whose) ? [] : [{ workspaceId: whose }],
    );
    const [workspaces, { heldSince }] = await Promise.all([
      readWorkspaces(this.workspaces, paused),
      this.eras.read(),
    ]);
    return pausesPage({ ...result, startAt, restoredAt: heldSince, workspaces, account, filled, done });
  }
}

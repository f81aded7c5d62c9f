import { Controller, Get, type HttpRedirectResponse, Post, Query, Redirect, Req, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { EraStore, PausedLaneStore, WorkspaceStore } from '@posthorn/database';
import { isWhole, listPauses, pauseSending, resumeSending, type Whose } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { doneAt, doneIn } from '../pages/done.ts';
import type { Html } from '../pages/html.ts';
import { Given } from '../pages/given.ts';
import { renderPage } from '../pages/page.ts';
import { refused } from '../pages/refused.ts';
import { thatIsThere } from '../pages/that-is-there.ts';
import { accountOf, operatorOf } from '../sign-in/entrance.ts';
import { type FilledForm, pausesPage, WHOSE } from './pauses-page.ts';

/** What an act is told of with, by the word in the address that it leads to. */
const DONE = {
  paused: 'It is held back: it is still accepted, and waits. What is just being sent is finished.',
  kept: 'It was held back already, and keeps its first reason.',
  resumed: 'It was released, and leaves within seconds.',
  waits: 'It was released, but the emails of all workspaces are still held back.',
  gone: 'It is not held back any more: somebody has released it, or the form was sent twice.',
} as const;

const RESTORED = new Refusal(
  409,
  'The database was restored, so what is due may have been sent already; see `posthorn status`, and release it with `posthorn resume`, which can also give it up',
);

/** What operators hold back, and release; each act is told to the audit log of the workspace, or to that of the system. */
@Controller('pauses')
export class PausesController {
  constructor(
    private readonly pausedLanes: PausedLaneStore,
    private readonly eras: EraStore,
    private readonly workspaces: WorkspaceStore,
  ) {}

  @Get()
  async show(
    @Query() query: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const workspace = new Given(query).shown('workspace');
    return renderPage(response, {
      title: 'What is held back',
      part: 'Overview',
      content: await this.content(request, { workspace }, doneIn(query, DONE)),
    });
  }

  /** What is wrong with what was filled in is said above the form, which stays filled. */
  @Post()
  async pause(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    const actor = operatorOf(request);
    const given = new Given(request.body);
    try {
      const whose = await this.whoseIn(given);
      const { wasPaused } = await pauseSending(this.pausedLanes, whose, actor, given.text('reason') ?? '');
      response.redirect(303, doneAt('/pauses', wasPaused ? 'kept' : 'paused').url);
      return undefined;
    } catch (error) {
      const fault = refused(error, response);
      const [whose, workspace, reason] = ['whose', 'workspace', 'reason'].map((name) => given.shown(name));
      const content = await this.content(request, { whose, workspace, reason, fault });
      return renderPage(response, { title: 'What is held back', part: 'Overview', content });
    }
  }

  @Post('release')
  @Redirect()
  async resume(@Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const whose = await this.whoseIn(new Given(request.body));
    if (isWhole(whose) && (await this.eras.read()).heldSince !== null) throw RESTORED;
    const { wasPaused, everythingIsPaused } = await resumeSending(this.pausedLanes, whose, actor);
    if (!wasPaused) return doneAt('/pauses', 'gone');
    return doneAt('/pauses', everythingIsPaused && whose !== 'webhooks' ? 'waits' : 'resumed');
  }

  private async content(request: Request, filled: FilledForm, done?: string): Promise<Html> {
    const [pauses, { heldSince }, workspaces] = await Promise.all([
      listPauses(this.pausedLanes),
      this.eras.read(),
      this.workspaces.list(),
    ]);
    return pausesPage({
      pauses,
      restoredAt: heldSince,
      workspaces,
      account: accountOf(request),
      filled,
      done,
    });
  }

  /** @throws Refusal (400) where it is not said, (404) for a workspace that is not there */
  private async whoseIn(given: Given): Promise<Whose> {
    const whose = given.word('whose', WHOSE);
    if (whose === undefined) throw new Refusal(400, '`whose` is missing; say what is meant');
    const id = given.id('workspace', 'wrk');
    if (whose !== 'workspace') {
      if (id === undefined) return whose;
      throw new Refusal(400, '`workspace` is given, but not one is meant; leave it out, or say that one is');
    }
    if (id === undefined) throw new Refusal(400, '`workspace` is missing; give the id of the workspace');
    return thatIsThere(await this.workspaces.find(id), 'There is no workspace with this id').id;
  }
}

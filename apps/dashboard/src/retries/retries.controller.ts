import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { type HastenedCounts, OverviewStore, RetryStore, WorkspaceStore } from '@posthorn/database';
import { hastenRetries, retriesOf } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { FormInput } from '../pages/form-input.ts';
import { renderPage } from '../pages/page.ts';
import { applyRefusal } from '../pages/refusals.ts';
import { readWorkspaces } from '../pages/workspaces.ts';
import { readWhose } from '../pauses/whose.ts';
import { accountOf, operatorOf } from '../sign-in/session-guard.ts';
import { retriesPage, RETRY_FIELDS } from './retries-page.ts';

/** An operator waits for the page meanwhile; a million rows take longer, and then the form continues. */
const WITHIN_MS = 5_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const COUNTS = ['hastened', 'paused', 'alreadyDue', 'inProgress'] as const;

/** Emails and deliveries that wait for their next attempt. */
@Controller('retries')
export class RetriesController {
  constructor(
    private readonly retries: RetryStore,
    private readonly overview: OverviewStore,
    private readonly workspaces: WorkspaceStore,
  ) {}

  @Get()
  show(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const input = new FormInput(query);
    return this.page(response, input, { done: countsIn(input), startAt: input.redisplay('startAt') });
  }

  /** A refusal is shown above the form, which stays filled. */
  @Post()
  async hasten(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    const actor = operatorOf(request);
    const input = new FormInput(request.body);
    try {
      const whose = await readWhose(this.workspaces, input);
      const wanted = { domain: input.text('domain'), class: input.text('class') };
      const options = { withinMs: WITHIN_MS, startAt: positionIn(input) };
      const done = await hastenRetries(this.retries, retriesOf(whose), actor, wanted, options);
      response.redirect(303, `/retries?${shownAfter(input, done).toString()}`);
      return undefined;
    } catch (error) {
      return this.page(response, input, { fault: applyRefusal(error, response) });
    }
  }

  private async page(
    response: Response,
    input: FormInput,
    shown: { done?: HastenedCounts | undefined; startAt?: string | undefined; fault?: string },
  ): Promise<string> {
    const [whose, workspace, domain, failureClass] = RETRY_FIELDS.map((name) => input.redisplay(name));
    const filled = { whose, workspace, domain, class: failureClass };
    const [waiting, workspaces] = await Promise.all([
      this.overview.waitingRetries(),
      readWorkspaces(this.workspaces),
    ]);
    const account = accountOf(response.req);
    const content = retriesPage({
      done: undefined,
      startAt: undefined,
      ...shown,
      waiting,
      workspaces,
      account,
      filled,
    });
    return renderPage(response, { title: 'Retries', section: 'Retries', content });
  }
}

function positionIn(input: FormInput): string | undefined {
  const startAt = input.text('startAt');
  if (startAt === undefined || UUID.test(startAt)) return startAt;
  throw new Refusal(400, '`startAt` is malformed; open this page again');
}

/** The parameters of the page that says what was done, with the form filled as it was. */
function shownAfter(
  input: FormInput,
  done: HastenedCounts & { readonly next: string | undefined },
): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of RETRY_FIELDS) {
    const value = input.redisplay(name);
    if (value !== undefined) query.set(name, value);
  }
  for (const name of COUNTS) query.set(name, String(done[name]));
  if (done.next !== undefined) query.set('startAt', done.next);
  return query;
}

/** What the URL says that was done; undefined: nothing was. */
function countsIn(input: FormInput): HastenedCounts | undefined {
  const counts = COUNTS.map((name) => Number(input.redisplay(name) ?? Number.NaN));
  if (!counts.every((value) => Number.isSafeInteger(value) && value >= 0)) return undefined;
  return Object.fromEntries(COUNTS.map((name, n) => [name, counts[n]])) as unknown as HastenedCounts;
}

import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import type { Page } from '@posthorn/domain';
import { EmailListStore, EmailSearchStore, type FoundEmail, WorkspaceStore } from '@posthorn/database';
import type { Response } from 'express';
import { confirmationIn } from '../pages/confirmation.ts';
import { renderPage } from '../pages/page.ts';
import { FormInput } from '../pages/form-input.ts';
import { runSearch } from '../pages/search.ts';
import { readWorkspaces } from '../pages/workspaces.ts';
import { accountOf } from '../sign-in/session-guard.ts';
import { emailPage } from './email-page.ts';
import { EmailReader } from './email-reader.ts';
import { EMAIL_FIELDS, emailFilter } from './email-search.ts';
import { countEmails, MAX_COUNTED } from './email-counts.ts';
import { emailCountsPage } from './email-counts-page.ts';
import { emailsPage, mayHaveFailed, titleOf } from './emails-page.ts';

/** The confirmations of actions, by the value of `done` in the URL. */
const CONFIRMATIONS: Readonly<Record<string, string>> = {
  moved: 'It was moved.',
  cancelled: 'It was cancelled.',
  hastened: 'It is due now, and is sent within seconds unless it is paused.',
  due: 'It was due already, is being sent just now, or is finished.',
  again: 'The email is sent again: as this new one.',
};

/** Emails of all workspaces. */
@Controller('emails')
export class EmailsController {
  constructor(
    private readonly search: EmailSearchStore,
    private readonly list: EmailListStore,
    private readonly workspaces: WorkspaceStore,
    private readonly reader: EmailReader,
  ) {}

  @Get()
  async find(
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    if (await this.isRedirected(query, response)) return undefined;
    const result = await runSearch(EMAIL_FIELDS, query, response, (input) => this.pageOf(input));
    const items = result.found?.items ?? [];
    const [workspaces, failures] = await Promise.all([
      readWorkspaces(this.workspaces, items),
      this.failuresOf(items),
    ]);
    const content = emailsPage({ ...result, workspaces, failures });
    return renderPage(response, { title: 'Emails', section: 'Emails', content });
  }

  @Get('counts')
  async count(
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    if (await this.isRedirected(query, response)) return undefined;
    const result = await runSearch(EMAIL_FIELDS, query, response, (input) => this.pageOf(input, MAX_COUNTED));
    const items = result.found?.items ?? [];
    const counts = countEmails(items, await this.failuresOf(items));
    const workspaces = await readWorkspaces(
      this.workspaces,
      counts.workspaces.map(({ value }) => ({ workspaceId: value })),
    );
    const content = emailCountsPage({ ...result, counts, workspaces });
    return renderPage(response, { title: 'Emails, counted', section: 'Emails', content });
  }

  @Get(':email_id')
  async show(
    @Param('email_id') id: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const shown = await this.reader.read(id, accountOf(response.req));
    const content = emailPage({ ...shown, done: confirmationIn(query, CONFIRMATIONS) });
    return renderPage(response, { title: titleOf(shown.email), section: 'Emails', content });
  }

  /** Redirects to the email whose id or Message-ID was entered as recipient, if it was. */
  private async isRedirected(query: unknown, response: Response): Promise<boolean> {
    const id = await this.reader.identify(new FormInput(query).redisplay('to') ?? '');
    if (id !== undefined) response.redirect(303, `/emails/${id}`);
    return id !== undefined;
  }

  private failuresOf(emails: readonly FoundEmail[]): ReturnType<EmailSearchStore['lastFailures']> {
    return this.search.lastFailures(emails.filter(mayHaveFailed).map(({ id }) => id));
  }

  private async pageOf(input: FormInput, limit?: number): Promise<Page<FoundEmail>> {
    const filter = emailFilter(input);
    const workspaceId = input.workspaceId();
    const page = { ...input.pageRequest('trs'), ...(limit === undefined ? {} : { limit }) };
    if (workspaceId === undefined) return this.search.list(page, filter);
    const found = await this.list.list(workspaceId, page, filter);
    return { ...found, items: found.items.map((email) => ({ ...email, workspaceId })) };
  }
}

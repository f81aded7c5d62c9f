import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { Page } from '@posthorn/domain';
import { EmailListStore, EmailSearchStore, type FoundEmail, WorkspaceStore } from '@posthorn/database';
import type { Request, Response } from 'express';
import { doneIn } from '../pages/done.ts';
import { renderPage } from '../pages/page.ts';
import { Given } from '../pages/given.ts';
import { searched } from '../pages/searched.ts';
import { accountOf } from '../sign-in/entrance.ts';
import { emailPage } from './email-page.ts';
import { EmailReader } from './email-reader.ts';
import { EMAIL_FIELDS, emailFilter, emailNamedIn } from './email-search.ts';
import { emailsPage, whatOf } from './emails-page.ts';

/** The sentence that confirms each action, by the word in the address that it redirects to. */
const DONE: Readonly<Record<string, string>> = {
  moved: 'It was moved.',
  cancelled: 'It was cancelled.',
  again: 'This is the email that is sent again.',
};

/** Emails, as those see them who run the installation. */
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
    const id = emailNamedIn(new Given(query));
    if (id !== undefined) {
      response.redirect(303, `/emails/${id}`);
      return undefined;
    }
    const workspaces = await this.workspaces.list();
    const result = await searched(EMAIL_FIELDS, query, response, (given) => this.pageOf(given));
    const content = emailsPage({ ...result, workspaces });
    return renderPage(response, { title: 'Emails', part: 'Emails', content });
  }

  @Get(':email_id')
  async show(
    @Param('email_id') id: string,
    @Query() query: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const shown = await this.reader.read(id, accountOf(request));
    const content = emailPage({ ...shown, done: doneIn(query, DONE) });
    return renderPage(response, { title: whatOf(shown.email), part: 'Emails', content });
  }

  private async pageOf(given: Given): Promise<Page<FoundEmail>> {
    const filter = emailFilter(given);
    const workspaceId = given.id('workspace', 'wrk');
    const page = given.page('trs');
    if (workspaceId === undefined) return this.search.list(filter, page);
    const found = await this.list.list(workspaceId, filter, page);
    return { ...found, items: found.items.map((email) => ({ ...email, workspaceId })) };
  }
}

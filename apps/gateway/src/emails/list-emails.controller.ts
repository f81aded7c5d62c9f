import { Controller, Get, Query } from '@nestjs/common';
import { EmailListStore } from '@posthorn/database';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { NO_TIME_BETWEEN } from '../paging/time-range.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { emailSummaryView } from './email-view.ts';
import { EmailsAnswer } from './email.answers.ts';
import { emailFilter, EmailsQuery } from './emails-query.ts';

@Controller('v1/emails')
export class ListEmailsController {
  constructor(private readonly emails: EmailListStore) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listEmails',
    tag: 'Emails',
    summary: 'List emails',
    description:
      'Lists the emails of the workspace, newest first, without their timelines. An item must match all filters. ' +
      'When very few of very many emails match, a page can have fewer items than `limit`, or none, although `hasMore` is true: ' +
      'continue with its `startAt`.',
    query: EmailsQuery,
    answer: EmailsAnswer,
    refuses: { 'No such time': NO_TIME_BETWEEN },
  })
  async list(@Caller() caller: Principal, @Query() query: unknown): Promise<EmailsAnswer> {
    const validated = validateQuery(EmailsQuery, query);
    const filter = emailFilter(validated);
    const page = await this.emails.list(caller.workspaceId, filter, pageById('trs', validated));
    return { emails: { ...page, items: page.items.map(emailSummaryView) } };
  }
}

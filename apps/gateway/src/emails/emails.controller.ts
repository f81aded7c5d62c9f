import { Body, Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { EmailId } from '@posthorn/kernel';
import { EmailListStore, EmailStore } from '@posthorn/database';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { DisconnectSignal, type JsonText, traceparentOf } from '@posthorn/platform';
import { AcceptEmails, contentRemoved, PreviewEmail, uncomposable, unsignable } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { NO_TIME_BETWEEN } from '../paging/time-range.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { toDraft } from './email-draft.ts';
import { EmailPreviewAnswer } from './email-preview.answers.ts';
import { SEND_REFUSALS } from './email-refusals.ts';
import { emailAnswer, emailSummaryView } from './email-view.ts';
import { acceptedJson } from './accepted-json.ts';
import { EmailAcceptedAnswer, EmailAnswer, EmailsAnswer } from './email.answers.ts';
import { emailFilter, EmailsQuery } from './emails-query.ts';
import { idempotencyHeader, withHeaderKey } from './idempotency-header.ts';
import { validateEmailRequest } from './validate-email-request.ts';
import { SEND_EMAIL_REQUEST } from './send-email.request.ts';

@Controller('v1/emails')
export class EmailsController {
  constructor(
    private readonly acceptEmails: AcceptEmails,
    private readonly emails: EmailStore,
    private readonly emailList: EmailListStore,
    private readonly previewEmail: PreviewEmail,
  ) {}

  @Post()
  @RequiresScope('api_user')
  @Describes({
    name: 'sendEmail',
    tag: 'Emails',
    summary: 'Send one email',
    description:
      'Accepts one email, to be sent at once or at its `sendAt`. A body with `template` is a templated email, any other is a raw one. ' +
      'Status 200 means that the email is stored durably: from then on, it is retried for three days until the relay takes it or refuses it permanently. ' +
      'Give an idempotency key to every email that must not be sent twice: you can then safely repeat the call after a 503, after a 502 or 504 of a proxy, or after a broken connection.',
    body: SEND_EMAIL_REQUEST,
    idempotent: true,
    answer: EmailAcceptedAnswer,
    refuses: SEND_REFUSALS,
  })
  async send(
    @Caller() caller: Principal,
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    const draft = withHeaderKey(toDraft(validateEmailRequest(body)), idempotencyHeader(request));
    const traceparent = traceparentOf(request);
    const { answer, isReplay } = await this.acceptEmails.acceptOne(caller.workspaceId, draft, traceparent);
    if (isReplay) response.setHeader('Idempotent-Replayed', 'true');
    return acceptedJson(`{"email":${answer}}`);
  }

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
    const page = await this.emailList.list(caller.workspaceId, pageById('trs', validated), filter);
    return { emails: { ...page, items: page.items.map(emailSummaryView) } };
  }

  @Get(':email_id')
  @RequiresScope('user')
  @Describes({
    name: 'readEmail',
    tag: 'Emails',
    summary: 'Read one email',
    description: 'Shows an email with its status and timeline.',
    answer: EmailAnswer,
  })
  async read(@Caller() caller: Principal, @PathId('email_id') id: EmailId): Promise<EmailAnswer> {
    return emailAnswer(await this.emails.find(caller.workspaceId, id));
  }

  @Get(':email_id/preview')
  @RequiresScope('user')
  @Describes({
    name: 'previewEmail',
    tag: 'Emails',
    summary: 'Preview one email',
    description:
      'Shows the message of an email, byte for byte as it will be or was sent, whatever its status. ' +
      'It is made by the same code as the transmitted message. Another release, or other DKIM keys of the domain, may make a different message from the same email; compare the `sha256` to find out.',
    answer: EmailPreviewAnswer,
    refuses: {
      'No message possible': uncomposable('its subject is too large'),
      'Its content is no longer kept': contentRemoved(),
      'A key is missing': unsignable(),
    },
  })
  async preview(
    @Caller() { workspaceId }: Principal,
    @PathId('email_id') id: EmailId,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<EmailPreviewAnswer> {
    const preview = foundBy('email_id', await this.previewEmail.preview(workspaceId, id, gone));
    return { preview };
  }
}

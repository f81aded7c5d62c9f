import { Body, Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { EmailId } from '@posthorn/kernel';
import { EmailStore } from '@posthorn/database';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { type JsonText, traceparentOf } from '@posthorn/platform';
import { AcceptEmails } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { Describes } from '../openapi/describes.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { toDraft } from './email-draft.ts';
import { SEND_REFUSALS } from './email-refusals.ts';
import { emailView } from './email-view.ts';
import { acceptedJson } from './accepted-json.ts';
import { EmailAcceptedAnswer, EmailAnswer } from './email.answers.ts';
import { idempotencyHeader, withHeaderKey } from './idempotency-header.ts';
import { validateEmailRequest } from './validate-email-request.ts';
import { RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';

@Controller('v1/emails')
export class EmailsController {
  constructor(
    private readonly acceptEmails: AcceptEmails,
    private readonly emails: EmailStore,
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
      'Give an idempotency key to every email that must not be sent twice: you can then safely repeat the call after a 503 or a broken connection.',
    body: [RawEmailRequest, TemplatedEmailRequest],
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
    const email = foundBy('email_id', await this.emails.find(caller.workspaceId, id));
    return { email: emailView(email) };
  }
}

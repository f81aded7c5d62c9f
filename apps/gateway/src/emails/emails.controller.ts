import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { parseId, Refusal } from '@posthorn/kernel';
import { EmailStore } from '@posthorn/database';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { JsonText } from '@posthorn/platform';
import { AcceptEmails, orUnavailable } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { toDraft } from './email-draft.ts';
import { emailView } from './email-view.ts';
import { idempotencyHeader } from './idempotency-header.ts';
import { judgeEmailRequest } from './judge-email-request.ts';

@Controller('v1/emails')
export class EmailsController {
  constructor(
    private readonly acceptEmails: AcceptEmails,
    private readonly emails: EmailStore,
  ) {}

  /** Sends one email: at once, or at its `sendAt`. */
  @Post()
  @RequiresScope('api_user')
  @HttpCode(200)
  async send(
    @Caller() caller: Principal,
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<JsonText> {
    const draft = withHeaderKey(toDraft(judgeEmailRequest(body)), idempotencyHeader(request));
    const { email, isReplay } = await this.acceptEmails.acceptOne(caller.workspaceId, draft);
    if (isReplay) response.setHeader('Idempotent-Replayed', 'true');
    return new JsonText(`{"email":${email}}`);
  }

  /** Shows one email: its status, and what has become of it so far. */
  @Get(':emailId')
  @RequiresScope('user')
  async read(@Caller() caller: Principal, @Param('emailId') emailId: string): Promise<object> {
    const id = parseId('trs', emailId);
    const email = id && (await orUnavailable(this.emails.find(caller.workspaceId, id)));
    if (!email) throw new Refusal(404, 'There is no email with this id in this workspace');
    return { email: emailView(email) };
  }
}

/** The header does what the field does; both may be given when they are the same. */
function withHeaderKey<Draft extends { readonly idempotencyKey?: string }>(
  draft: Draft,
  key: string | undefined,
): Draft {
  if (key === undefined) return draft;
  if (draft.idempotencyKey !== undefined && draft.idempotencyKey !== key) {
    throw new Refusal(
      400,
      '`idempotencyKey` and the `Idempotency-Key` header differ; give one of them, or the same in both',
    );
  }
  return { ...draft, idempotencyKey: key };
}

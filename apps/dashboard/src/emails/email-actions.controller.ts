import { Controller, type HttpRedirectResponse, Param, Post, Redirect, Req } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { RetryStore } from '@posthorn/database';
import { CancelEmail, RescheduleEmail, SendEmailAgain } from '@posthorn/use-cases';
import type { Request } from 'express';
import { redirectWithConfirmation } from '../pages/confirmation.ts';
import { FormInput, inUtc } from '../pages/form-input.ts';
import { orNotFound } from '../pages/refusals.ts';
import { operatorOf } from '../sign-in/session-guard.ts';
import { EmailReader, NO_EMAIL } from './email-reader.ts';

/** A UUID, as the form gives it. */
const WISH = /^[0-9a-f-]{36}$/;

/** Actions of operators on emails. Each is recorded in the audit log of the workspace, with the operator's name. */
@Controller('emails')
export class EmailActionsController {
  constructor(
    private readonly cancelEmail: CancelEmail,
    private readonly rescheduleEmail: RescheduleEmail,
    private readonly sendEmailAgain: SendEmailAgain,
    private readonly retries: RetryStore,
    private readonly reader: EmailReader,
  ) {}

  @Post(':email_id/cancel')
  @Redirect()
  async cancel(@Param('email_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.locate(text);
    try {
      orNotFound(await this.cancelEmail.cancel(workspaceId, id, actor), NO_EMAIL);
    } catch (error) {
      // Pressing the button twice, or after somebody else did, counts as success.
      if (!(error instanceof Refusal) || !(await this.reader.isCancelled(workspaceId, id))) throw error;
    }
    return redirectWithConfirmation(`/emails/${id}`, 'cancelled');
  }

  @Post(':email_id/move')
  @Redirect()
  async move(@Param('email_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.locate(text);
    const sendAt = inUtc(new FormInput(request.body).text('sendAt') ?? '');
    orNotFound(await this.rescheduleEmail.reschedule(workspaceId, id, sendAt, actor), NO_EMAIL);
    return redirectWithConfirmation(`/emails/${id}`, 'moved');
  }

  @Post(':email_id/hasten')
  @Redirect()
  async hasten(@Param('email_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.locate(text);
    const { hastened } = await this.retries.hastenEmail(workspaceId, id, actor);
    return redirectWithConfirmation(`/emails/${id}`, hastened === 0 ? 'due' : 'hastened');
  }

  @Post(':email_id/again')
  @Redirect()
  async again(@Param('email_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.locate(text);
    const input = new FormInput(request.body);
    const [reason, wish] = [input.text('reason') ?? '', input.text('wish') ?? ''];
    if (!WISH.test(wish))
      throw new Refusal(400, 'This did not come from the form of the email; open the email and try again');
    const copy = await this.sendEmailAgain.sendAgain(workspaceId, id, { actor, reason, wish });
    return redirectWithConfirmation(`/emails/${orNotFound(copy, NO_EMAIL)}`, 'again');
  }
}

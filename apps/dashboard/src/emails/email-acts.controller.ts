import { Controller, type HttpRedirectResponse, Param, Post, Redirect, Req } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { CancelEmail, RescheduleEmail, SendEmailAgain } from '@posthorn/use-cases';
import type { Request } from 'express';
import { doneAt } from '../pages/done.ts';
import { Given, inUtc } from '../pages/given.ts';
import { thatIsThere } from '../pages/that-is-there.ts';
import { operatorOf } from '../sign-in/entrance.ts';
import { EmailReader, NO_EMAIL } from './email-reader.ts';

/** As forms have it: a UUID, and nothing that could be taken for something else. */
const WISH = /^[0-9a-f-]{36}$/;

/** What operators do with emails; each act is told to the audit log of the workspace, with the name of the operator. */
@Controller('emails')
export class EmailActsController {
  constructor(
    private readonly cancelEmail: CancelEmail,
    private readonly rescheduleEmail: RescheduleEmail,
    private readonly sendEmailAgain: SendEmailAgain,
    private readonly reader: EmailReader,
  ) {}

  @Post(':email_id/cancel')
  @Redirect()
  async cancel(@Param('email_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.locate(text);
    try {
      thatIsThere(await this.cancelEmail.cancel(workspaceId, id, actor), NO_EMAIL);
    } catch (error) {
      // Whoever presses the button twice, or after somebody else did, has what they wanted.
      if (!(error instanceof Refusal) || !(await this.reader.isCancelled(workspaceId, id))) throw error;
    }
    return doneAt(`/emails/${id}`, 'cancelled');
  }

  @Post(':email_id/move')
  @Redirect()
  async move(@Param('email_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.locate(text);
    const sendAt = inUtc(new Given(request.body).text('sendAt') ?? '');
    thatIsThere(await this.rescheduleEmail.reschedule(workspaceId, id, sendAt, actor), NO_EMAIL);
    return doneAt(`/emails/${id}`, 'moved');
  }

  @Post(':email_id/again')
  @Redirect()
  async again(@Param('email_id') text: string, @Req() request: Request): Promise<HttpRedirectResponse> {
    const actor = operatorOf(request);
    const { id, workspaceId } = await this.reader.locate(text);
    const given = new Given(request.body);
    const [reason, wish] = [given.text('reason') ?? '', given.text('wish') ?? ''];
    if (!WISH.test(wish))
      throw new Refusal(400, 'This was not asked by the form of the email; open it and try again');
    const copy = await this.sendEmailAgain.sendAgain(workspaceId, id, { actor, reason, wish });
    return doneAt(`/emails/${thatIsThere(copy, NO_EMAIL)}`, 'again');
  }
}

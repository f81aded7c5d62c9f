import { Body, Controller, Post } from '@nestjs/common';
import type { EmailId } from '@posthorn/kernel';
import type { EmailStatus } from '@posthorn/domain';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { CancelEmail, MOVED_TOO_OFTEN, notScheduled, RescheduleEmail } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { validateBody } from '../validation/validate-body.ts';
import { PathId } from '../validation/path-ids.ts';
import { TOO_FAR_AHEAD } from './email-refusals.ts';
import { emailAnswer } from './email-view.ts';
import { EmailAnswer } from './email.answers.ts';
import { RescheduleEmailRequest } from './reschedule-email.request.ts';

const [ACCEPTED_AT, CHANGED_AT, SEND_AT] = [
  '2030-01-31T09:30:00.000Z',
  '2030-01-31T10:00:00.000Z',
  '2030-02-01T09:30:00.000Z',
];

/** The overrides of the examples for an email that has not been sent. */
function unsent(status: EmailStatus, change: object): Readonly<Record<string, unknown>> {
  const counts = { opens: 0, clicks: 0, machineOpens: 0, machineClicks: 0 };
  return {
    'email.status': status,
    'email.sendAt': SEND_AT,
    'email.sentAt': null,
    'email.engagement': { ...counts, openedAt: null, clickedAt: null },
    'email.timeline': [
      { event: 'SCHEDULED', createdAt: ACCEPTED_AT },
      { ...change, createdAt: CHANGED_AT },
    ],
  };
}

/** Actions on emails that are not being sent yet. */
@Controller('v1/emails')
export class ScheduledEmailsController {
  constructor(
    private readonly rescheduleEmail: RescheduleEmail,
    private readonly cancelEmail: CancelEmail,
  ) {}

  @Post(':email_id')
  @RequiresScope('api_user')
  @Describes({
    name: 'rescheduleEmail',
    tag: 'Emails',
    summary: 'Move a scheduled email',
    description:
      'Moves an email to an earlier or a later time, as long as it is `SCHEDULED`. Its idempotency key is kept until 30 days after the new time.',
    body: RescheduleEmailRequest,
    answer: EmailAnswer,
    exampleOverrides: unsent('SCHEDULED', { event: 'RESCHEDULED', sendAt: SEND_AT }),
    refuses: {
      ...TOO_FAR_AHEAD,
      'Taken up before': notScheduled({ status: 'SENT' }, 'moved'),
      'Moved too often': MOVED_TOO_OFTEN,
    },
  })
  async reschedule(
    @Caller() { workspaceId }: Principal,
    @PathId('email_id') id: EmailId,
    @Body() body: unknown,
  ): Promise<EmailAnswer> {
    const { sendAt } = validateBody(RescheduleEmailRequest, body);
    return emailAnswer(await this.rescheduleEmail.reschedule(workspaceId, id, sendAt));
  }

  @Post(':email_id/cancel')
  @RequiresScope('api_user')
  @Describes({
    name: 'cancelEmail',
    tag: 'Emails',
    summary: 'Cancel a scheduled email',
    description:
      'Cancels an email permanently, as long as it is `SCHEDULED`. It no longer counts towards the monthly limit.',
    answer: EmailAnswer,
    exampleOverrides: unsent('CANCELLED', { event: 'CANCELLED' }),
    refuses: { 'Cancelled before': notScheduled({ status: 'CANCELLED' }, 'cancelled') },
  })
  async cancel(@Caller() { workspaceId }: Principal, @PathId('email_id') id: EmailId): Promise<EmailAnswer> {
    return emailAnswer(await this.cancelEmail.cancel(workspaceId, id));
  }
}

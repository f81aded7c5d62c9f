import { Body, Controller, Post } from '@nestjs/common';
import { type EmailId, RELEASE } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { ReportEmail, STILL_TRANSMITTED } from '@posthorn/use-cases';
import { Describes, refusalBy } from '../openapi/describes.ts';
import { PathId } from '../validation/path-ids.ts';
import { TIMELINE_EXAMPLE } from './email-timeline.answers.ts';
import { emailAnswer } from './email-view.ts';
import { EmailAnswer } from './email.answers.ts';
import { ReportEmailRequest, validateReport } from './report-email.request.ts';

const BOUNCED = {
  event: 'BOUNCED',
  createdAt: '2030-01-31T09:31:00.000Z',
  report: 'failed',
  class: 'unknown_user',
  reply: { code: 550, enhancedCode: '5.1.1', text: 'No such user here' },
  reportedBy: 'Amazon SES',
  release: RELEASE,
};

/** What providers report over HTTP about emails that they took. */
@Controller('v1/emails')
export class EmailReportsController {
  constructor(private readonly reportEmail: ReportEmail) {}

  @Post(':email_id/reports')
  @RequiresScope('api_user')
  @Describes({
    name: 'reportEmail',
    tag: 'Emails',
    summary: 'Report what became of an email',
    description:
      'For a provider that reports bounces, complaints and deliveries over HTTP instead of by mail: call it from the code behind the webhook of that provider. ' +
      'A report has the same effects as one in returned mail: on status, timeline and suppression list, and as an event. ' +
      'For each email, the first report of each kind counts, so repeating a call changes nothing. After the result of an email is final, a report changes only its timeline; a complaint still suppresses the recipient.',
    body: ReportEmailRequest,
    answer: EmailAnswer,
    exampleOverrides: { 'email.status': 'BOUNCED', 'email.timeline': [...TIMELINE_EXAMPLE, BOUNCED] },
    refuses: {
      'Contradictory': refusalBy(() => validateReport({ report: 'failed', reply: { code: 250 } })),
      'Still transmitted': STILL_TRANSMITTED,
    },
  })
  async report(
    @Caller() { workspaceId }: Principal,
    @PathId('email_id') id: EmailId,
    @Body() body: unknown,
  ): Promise<EmailAnswer> {
    return emailAnswer(await this.reportEmail.report(workspaceId, id, validateReport(body)));
  }
}

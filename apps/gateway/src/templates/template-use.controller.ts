import { Body, Controller, Post, Req } from '@nestjs/common';
import type { TemplateId } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { DisconnectSignal, type JsonText, traceparentOf } from '@posthorn/platform';
import { noSuchVersion, PreviewTemplate, SendTestEmail } from '@posthorn/use-cases';
import type { Request } from 'express';
import { mailboxOf } from '../validation/mailbox-rules.ts';
import { MONTHLY_LIMIT_REACHED, SENDER_NOT_VERIFIED } from '../emails/email-refusals.ts';
import { EmailAcceptedAnswer } from '../emails/email.answers.ts';
import { acceptedJson } from '../emails/accepted-json.ts';
import { Describes } from '../openapi/describes.ts';
import { OptionalBody, validateBody } from '../validation/validate-body.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { VARIABLES_MISSING } from './template-refusals.ts';
import { TemplatePreviewAnswer } from './template.answers.ts';
import { PreviewTemplateRequest, SendTestEmailRequest } from './use-template.requests.ts';

@Controller('v1/templates')
export class TemplateUseController {
  constructor(
    private readonly previewTemplate: PreviewTemplate,
    private readonly sendTestEmail: SendTestEmail,
  ) {}

  @Post(':template_id/preview')
  @RequiresScope('user')
  @Describes({
    name: 'previewTemplate',
    tag: 'Templates',
    summary: 'Preview a template',
    description: 'Renders the template with these variables. Nothing is sent or stored.',
    body: PreviewTemplateRequest,
    bodyIsOptional: true,
    answer: TemplatePreviewAnswer,
    refuses: { ...VARIABLES_MISSING, 'Unknown version': noSuchVersion(7, 3) },
  })
  async preview(
    @Caller() caller: Principal,
    @PathId('template_id') id: TemplateId,
    @OptionalBody() body: object,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<TemplatePreviewAnswer> {
    const { variables = {}, version } = validateBody(PreviewTemplateRequest, body);
    const shown = foundBy(
      'template_id',
      await this.previewTemplate.preview(caller.workspaceId, id, { variables, version }, gone),
    );
    const { subject, html, text, previewText = null } = shown;
    return { subject, html, text, previewText };
  }

  @Post(':template_id/test')
  @RequiresScope('api_user')
  @Describes({
    name: 'sendTestEmail',
    tag: 'Templates',
    summary: 'Send a test email',
    description:
      'Sends one email with the template. It is an email like any other: it counts towards the monthly limit, it is tracked, and it can be read.',
    body: SendTestEmailRequest,
    answer: EmailAcceptedAnswer,
    refuses: { ...VARIABLES_MISSING, ...SENDER_NOT_VERIFIED, ...MONTHLY_LIMIT_REACHED },
  })
  async sendTest(
    @Caller() caller: Principal,
    @PathId('template_id') id: TemplateId,
    @Body() body: unknown,
    @Req() request: Request,
  ): Promise<JsonText> {
    const { to, variables = {} } = validateBody(SendTestEmailRequest, body);
    const accepted = foundBy(
      'template_id',
      await this.sendTestEmail.send(
        caller.workspaceId,
        id,
        { to: mailboxOf(to), variables },
        traceparentOf(request),
      ),
    );
    return acceptedJson(`{"email":${accepted.answer}}`);
  }
}

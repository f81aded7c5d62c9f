import { Controller, Get } from '@nestjs/common';
import type { EmailId } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { DisconnectSignal } from '@posthorn/platform';
import { contentRemoved, PreviewEmail, uncomposable, unsignable } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import { EmailPreviewAnswer } from './email-preview.answers.ts';

@Controller('v1/emails')
export class PreviewEmailController {
  constructor(private readonly previewEmail: PreviewEmail) {}

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

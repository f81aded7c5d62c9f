import { Controller, Get, Param, Res } from '@nestjs/common';
import type { EmailId } from '@posthorn/kernel';
import { DisconnectSignal } from '@posthorn/platform';
import { type EmailPreview, PreviewEmail } from '@posthorn/use-cases';
import type { Response } from 'express';
import { refusalOf } from '../pages/error-page.ts';
import { renderPage } from '../pages/page.ts';
import { orNotFound } from '../pages/refusals.ts';
import { FRAME_POLICY, sanitizeForFrame, faultFrame } from './email-frame.ts';
import { EmailReader, NO_EMAIL } from './email-reader.ts';
import { sourcePage } from './source-page.ts';

/** The content of an email, composed by the same code as in the sender. */
@Controller('emails')
export class EmailContentController {
  constructor(
    private readonly previewEmail: PreviewEmail,
    private readonly reader: EmailReader,
  ) {}

  @Get(':email_id/frame')
  async frame(
    @Param('email_id') text: string,
    @Res({ passthrough: true }) response: Response,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<string> {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Content-Security-Policy', FRAME_POLICY);
    response.setHeader('X-DNS-Prefetch-Control', 'off');
    try {
      return sanitizeForFrame((await this.preview(text, gone)).preview.html);
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      response.status(refusal.statusCode);
      return faultFrame(refusal.message);
    }
  }

  @Get(':email_id/source')
  async source(
    @Param('email_id') text: string,
    @Res({ passthrough: true }) response: Response,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<string> {
    const { id, preview } = await this.preview(text, gone);
    const content = sourcePage(id, preview);
    return renderPage(response, { title: `Source of “${preview.subject}”`, section: 'Emails', content });
  }

  private async preview(text: string, gone: AbortSignal): Promise<{ id: EmailId; preview: EmailPreview }> {
    const { id, workspaceId } = await this.reader.locate(text);
    return { id, preview: orNotFound(await this.previewEmail.preview(workspaceId, id, gone), NO_EMAIL) };
  }
}

import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';
import { ERROR_PAGES } from './error-pages.ts';

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}';

@Controller('docs/errors')
export class ErrorPagesController {
  /** Explains one error to people. */
  @Get(':page')
  @Header('Content-Type', 'text/html; charset=utf-8')
  read(@Param('page') name: string, @Res({ passthrough: true }) response: Response): string {
    const page = Object.hasOwn(ERROR_PAGES, name) ? ERROR_PAGES[name] : undefined;
    if (page === undefined) throw new Refusal(404, 'There is no page about an error of this name');
    response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
    const paragraphs = page.paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('');
    return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${page.title}</title><style>${STYLE}</style><h1>${page.title}</h1>${paragraphs}</html>`;
  }
}

import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';
import { Describes, HTML_PAGE } from '../openapi/describes.ts';
import { ERROR_PAGES, errorPageContent } from './error-pages.ts';
import { textPage, withoutSlash } from './html-page.ts';

const HTML = 'text/html; charset=utf-8';
const NO_SUCH_PAGE = new Refusal(
  404,
  'There is no page about an error of this name; `/docs/errors` lists them',
);

@Controller('docs/errors')
export class ErrorPagesController {
  @Get()
  @Header('Content-Type', HTML)
  @Describes({
    name: 'listErrorPages',
    tag: 'Service',
    summary: 'List the pages about errors',
    answer: HTML_PAGE,
  })
  list(@Res({ passthrough: true }) response: Response): string {
    const items = Object.entries(ERROR_PAGES).map(
      ([name, { title }]) => `<li><a href="errors/${name}">${title}</a></li>`,
    );
    const page = textPage(response, 'Errors of Posthorn', `<ul>${items.join('')}</ul>`);
    return withoutSlash(response, page);
  }

  @Get(':page')
  @Header('Content-Type', HTML)
  @Describes({
    name: 'readErrorPage',
    tag: 'Service',
    summary: 'Read a page about an error',
    description: 'The page that `docsUrl` points to; it explains one error.',
    path: {
      page: {
        sentence: 'The name of the page.',
        schema: { type: 'string', enum: Object.keys(ERROR_PAGES) },
        example: 'unverified-sender',
      },
    },
    answer: HTML_PAGE,
    refuses: { 'No such page': NO_SUCH_PAGE },
  })
  read(@Param('page') name: string, @Res({ passthrough: true }) response: Response): string {
    const page = Object.hasOwn(ERROR_PAGES, name) ? ERROR_PAGES[name] : undefined;
    if (page === undefined) throw NO_SUCH_PAGE;
    const shown = textPage(response, page.title, errorPageContent(page));
    return withoutSlash(response, shown);
  }
}

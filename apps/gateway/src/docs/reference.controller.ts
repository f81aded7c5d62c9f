import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';
import { Describes, HTML_PAGE } from '../openapi/describes.ts';
import { withoutSlash } from './html-page.ts';
import { REFERENCE_FILES, REFERENCE_VERSION } from './reference-files.ts';
import { REFERENCE_POLICY, referencePage } from './reference-page.ts';

const PAGE = referencePage(REFERENCE_VERSION);
const NO_SUCH_FILE = new Refusal(404, 'The reference has no file of this name');
const IMMUTABLE = 'public, max-age=31536000, immutable';

@Controller('docs')
export class ReferenceController {
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', REFERENCE_POLICY)
  @Header('Cache-Control', 'no-cache')
  @Describes({
    name: 'readReference',
    tag: 'Service',
    summary: 'Read the reference',
    description: 'Shows this document as a web page.',
    answer: HTML_PAGE,
  })
  page(@Res({ passthrough: true }) response: Response): string {
    return withoutSlash(response, PAGE);
  }

  @Get('assets/:version/:file')
  @Describes({
    name: 'readReferenceFile',
    tag: 'Service',
    summary: 'Read a file of the reference',
    path: {
      version: {
        sentence: 'Changes when a file does.',
        schema: { type: 'string' },
        example: REFERENCE_VERSION,
      },
      file: {
        sentence: 'The name of the file.',
        schema: { type: 'string', enum: [...REFERENCE_FILES.keys()] },
        example: 'posthorn.css',
      },
    },
    answer: { contentType: '*/*', example: 'body{…}' },
    refuses: { 'No such file': NO_SUCH_FILE },
  })
  file(
    @Param('version') version: string,
    @Param('file') name: string,
    @Res({ passthrough: true }) response: Response,
  ): Buffer {
    const file = REFERENCE_FILES.get(name);
    if (file === undefined) throw NO_SUCH_FILE;
    response.setHeader('Content-Type', file.contentType);
    // During a rollout a page may request its files from a gateway of another release: these are served, but not cached.
    if (version === REFERENCE_VERSION) response.setHeader('Cache-Control', IMMUTABLE);
    return file.content;
  }
}

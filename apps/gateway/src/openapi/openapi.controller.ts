import { Controller, Get, Headers, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiDocument } from './api-document.ts';
import { Describes } from './describes.ts';

@Controller('openapi.json')
export class OpenApiController {
  constructor(private readonly document: ApiDocument) {}

  @Get()
  @Describes({
    name: 'readInterface',
    tag: 'Service',
    summary: 'Read this document',
    description: 'The interface as OpenAPI 3.1.',
    answer: {
      isTagged: true,
      contentType: 'application/json',
      schema: { type: 'object' },
      example: { openapi: '3.1.0' },
    },
  })
  read(
    @Headers('if-none-match') known: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Buffer | undefined {
    response.setHeader('ETag', this.document.tag);
    response.setHeader('Cache-Control', 'public, max-age=300');
    if (matchesTag(this.document.tag, known)) {
      response.status(304);
      return undefined;
    }
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    return this.document.bytes;
  }
}

/** Whether `If-None-Match` includes this entity tag, by weak comparison (RFC 9110, section 13.1.2). */
function matchesTag(tag: string, list = ''): boolean {
  return list.split(',').some((item) => ['*', tag, `W/${tag}`].includes(item.trim()));
}

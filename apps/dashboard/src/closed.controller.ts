import { Controller, Get, Header } from '@nestjs/common';

const PAGE =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Posthorn dashboard</title>' +
  '<h1>Posthorn dashboard</h1><p>The dashboard is closed: it shows nothing before it can tell who is asking, and ' +
  'this release has no sign-in for operators yet. Until then: <code>npm run posthorn -- help</code>.</p></html>';

/** Says to people why they see nothing here. */
@Controller()
export class ClosedController {
  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  read(): string {
    return PAGE;
  }
}

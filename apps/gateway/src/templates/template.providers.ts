import type { Provider } from '@nestjs/common';
import { type Database, TemplateChanges, TemplateStore } from '@posthorn/database';
import type { HtmlToText, TemplateRenderer } from '@posthorn/rendering';
import {
  type AcceptEmails,
  PreviewTemplate,
  SaveTemplate,
  SendTestEmail,
  type UnsubscribeLinks,
} from '@posthorn/use-cases';

export interface TemplateParts {
  readonly database: Database;
  readonly renderer: TemplateRenderer;
  readonly htmlToText: HtmlToText;
  readonly unsubscribeLinks: UnsubscribeLinks;
}

/** The providers of the routes of templates. */
export function templateProviders(
  { database, renderer, htmlToText, unsubscribeLinks }: TemplateParts,
  acceptEmails: AcceptEmails,
): Provider[] {
  const store = new TemplateStore(database);
  const changes = new TemplateChanges(database);
  return [
    { provide: TemplateStore, useValue: store },
    { provide: TemplateChanges, useValue: changes },
    { provide: SaveTemplate, useValue: new SaveTemplate({ store, changes, renderer }) },
    {
      provide: PreviewTemplate,
      useValue: new PreviewTemplate({ store, renderer, htmlToText, unsubscribeLinks }),
    },
    { provide: SendTestEmail, useValue: new SendTestEmail({ store, acceptEmails }) },
  ];
}

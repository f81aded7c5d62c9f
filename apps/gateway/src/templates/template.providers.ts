import type { Provider } from '@nestjs/common';
import { type Database, TemplateChanges, TemplateStore } from '@posthorn/database';
import { providersOf } from '@posthorn/platform';
import type { Renderers } from '@posthorn/rendering';
import {
  type AcceptEmails,
  PreviewTemplate,
  SaveTemplate,
  SendTestEmail,
  type UnsubscribeLinks,
} from '@posthorn/use-cases';

export interface TemplateParts extends Pick<Renderers, 'renderer' | 'htmlToText'> {
  readonly database: Database;
  readonly unsubscribeLinks: UnsubscribeLinks;
}

/** The providers of the routes of templates. */
export function templateProviders(
  { database, renderer, htmlToText, unsubscribeLinks }: TemplateParts,
  acceptEmails: AcceptEmails,
): Provider[] {
  const store = new TemplateStore(database);
  const changes = new TemplateChanges(database);
  return providersOf(
    store,
    changes,
    new SaveTemplate({ store, changes, renderer }),
    new PreviewTemplate({ store, renderer, htmlToText, unsubscribeLinks }),
    new SendTestEmail({ store, acceptEmails }),
  );
}

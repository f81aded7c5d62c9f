import { type Provider } from '@nestjs/common';
import { DatabaseClock } from '@posthorn/kernel';
import {
  type Database,
  DkimKeyStore,
  EmailChanges,
  EmailCountsStore,
  EmailListStore,
  EmailStore,
  TemplateStore,
} from '@posthorn/database';
import { type LaneRings } from '@posthorn/queues';
import { type HtmlToText, type LinkFinder, type TemplateRenderer } from '@posthorn/rendering';
import { type SecretBox } from '@posthorn/signing';
import {
  CancelEmail,
  ComposeEmail,
  CountEmails,
  PreviewEmail,
  RescheduleEmail,
  SigningKeys,
  TemplateVersions,
  TrackHtml,
  type TrackingLinks,
  type UnsubscribeLinks,
} from '@posthorn/use-cases';

export interface EmailParts {
  readonly database: Database;
  readonly rings: LaneRings;
  readonly renderer: TemplateRenderer;
  readonly htmlToText: HtmlToText;
  readonly secretBox: SecretBox;
  readonly unsubscribeLinks: UnsubscribeLinks;
  readonly linkFinder: LinkFinder;
  readonly trackingLinks: TrackingLinks;
}

/** What the routes of accepted emails need. */
export function emailProviders(parts: EmailParts): Provider[] {
  const { database, rings, renderer, htmlToText, secretBox, unsubscribeLinks } = parts;
  const emails = new EmailStore(database);
  const changes = new EmailChanges(database);
  const versions = new TemplateVersions(new TemplateStore(database));
  const signingKeys = new SigningKeys(new DkimKeyStore(database), secretBox);
  const tracking = new TrackHtml({ finder: parts.linkFinder, links: parts.trackingLinks });
  const rendering = { htmlToText, renderer, versions };
  const composer = new ComposeEmail({ ...rendering, signingKeys, unsubscribeLinks, tracking });
  const reschedule = new RescheduleEmail({ emails, changes, rings, clock: database.clock });
  return [
    { provide: EmailStore, useValue: emails },
    { provide: EmailListStore, useValue: new EmailListStore(database) },
    { provide: CountEmails, useValue: new CountEmails(new EmailCountsStore(database)) },
    { provide: DatabaseClock, useValue: database.clock },
    { provide: CancelEmail, useValue: new CancelEmail({ emails, changes }) },
    { provide: RescheduleEmail, useValue: reschedule },
    { provide: PreviewEmail, useValue: new PreviewEmail({ emails, composer }) },
  ];
}

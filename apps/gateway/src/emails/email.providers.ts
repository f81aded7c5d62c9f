import type { Provider } from '@nestjs/common';
import { EmailChanges, EmailCountsStore, EmailListStore, EmailStore, ReportStore } from '@posthorn/database';
import { providersOf } from '@posthorn/platform';
import type { LaneRings } from '@posthorn/queues';
import {
  CancelEmail,
  type ComposerParts,
  CountEmails,
  openComposer,
  PreviewEmail,
  ReportEmail,
  RescheduleEmail,
} from '@posthorn/use-cases';

export interface EmailParts extends ComposerParts {
  readonly rings: LaneRings;
}

/** The providers of the routes of accepted emails. */
export function emailProviders(parts: EmailParts): Provider[] {
  const { database, rings } = parts;
  const emails = new EmailStore(database);
  const changes = new EmailChanges(database);
  return providersOf(
    emails,
    new EmailListStore(database),
    new CountEmails(new EmailCountsStore(database)),
    new CancelEmail({ emails, changes }),
    new RescheduleEmail({ emails, changes, rings, clock: database.clock }),
    new ReportEmail({ emails, reports: new ReportStore(database) }),
    new PreviewEmail({ emails, composer: openComposer(parts) }),
  );
}

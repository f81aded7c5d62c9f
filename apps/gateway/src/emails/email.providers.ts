import type { Provider } from '@nestjs/common';
import { EmailChanges, EmailCountsStore, EmailListStore, EmailStore } from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import {
  CancelEmail,
  type ComposerParts,
  CountEmails,
  openComposer,
  PreviewEmail,
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
  const reschedule = new RescheduleEmail({ emails, changes, rings, clock: database.clock });
  return [
    { provide: EmailStore, useValue: emails },
    { provide: EmailListStore, useValue: new EmailListStore(database) },
    { provide: CountEmails, useValue: new CountEmails(new EmailCountsStore(database)) },
    { provide: CancelEmail, useValue: new CancelEmail({ emails, changes }) },
    { provide: RescheduleEmail, useValue: reschedule },
    { provide: PreviewEmail, useValue: new PreviewEmail({ emails, composer: openComposer(parts) }) },
  ];
}

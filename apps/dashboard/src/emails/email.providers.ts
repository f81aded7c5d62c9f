import type { Provider } from '@nestjs/common';
import {
  AuditLogStore,
  EmailChanges,
  EmailListStore,
  EmailSearchStore,
  EmailStore,
  PausedLaneStore,
  SuppressionStore,
  WorkspaceStore,
} from '@posthorn/database';
import { answerOf } from '@posthorn/platform';
import type { LaneRings } from '@posthorn/queues';
import {
  CancelEmail,
  type ComposerParts,
  openAcceptance,
  openComposer,
  PreviewEmail,
  RescheduleEmail,
  SendEmailAgain,
} from '@posthorn/use-cases';
import { EmailReader } from './email-reader.ts';

export interface EmailParts extends ComposerParts {
  /** Of the emails' lanes. */
  readonly rings: LaneRings;
  /** Emails per month of a workspace without a limit of its own; null: no limit. */
  readonly monthlyLimit: number | null;
  /** The URL of the gateway, whose pages explain errors. */
  readonly publicUrl: string;
}

/** The providers of the pages of emails. */
export function emailProviders(parts: EmailParts): Provider[] {
  const { database, rings, monthlyLimit, publicUrl } = parts;
  const emails = new EmailStore(database);
  const search = new EmailSearchStore(database);
  const workspaces = new WorkspaceStore(database);
  const changes = new EmailChanges(database);
  const auditLog = new AuditLogStore(database);
  const suppressions = new SuppressionStore(database);
  const pausedLanes = new PausedLaneStore(database);
  const reschedule = new RescheduleEmail({ emails, changes, rings, clock: database.clock });
  const preview = new PreviewEmail({ emails, composer: openComposer(parts) });
  const accept = openAcceptance({
    database,
    rings,
    monthlyLimit,
    errorBodyOf: (refusal) => answerOf(refusal, publicUrl).body,
  });
  return [
    { provide: EmailSearchStore, useValue: search },
    { provide: EmailListStore, useValue: new EmailListStore(database) },
    { provide: WorkspaceStore, useValue: workspaces },
    { provide: SuppressionStore, useValue: suppressions },
    {
      provide: EmailReader,
      useValue: new EmailReader({ search, emails, auditLog, workspaces, suppressions, pausedLanes }),
    },
    { provide: PreviewEmail, useValue: preview },
    { provide: CancelEmail, useValue: new CancelEmail({ emails, changes }) },
    { provide: RescheduleEmail, useValue: reschedule },
    { provide: SendEmailAgain, useValue: new SendEmailAgain({ emails, accept }) },
  ];
}

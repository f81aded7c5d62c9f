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
import { answerOf, providersOf } from '@posthorn/platform';
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
  const accept = openAcceptance({
    database,
    rings,
    monthlyLimit,
    errorBodyOf: (refusal) => answerOf(refusal, publicUrl).body,
  });
  return providersOf(
    search,
    new EmailListStore(database),
    workspaces,
    suppressions,
    new EmailReader({ search, emails, auditLog, workspaces, suppressions, pausedLanes }),
    new PreviewEmail({ emails, composer: openComposer(parts) }),
    new CancelEmail({ emails, changes }),
    new RescheduleEmail({ emails, changes, rings, clock: database.clock }),
    new SendEmailAgain({ emails, accept }),
  );
}

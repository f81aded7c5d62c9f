import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus, ReportKind, ReportVerdict } from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../../connection/connection.ts';
import { addDueEventLanes, type WithEventLanes } from '../../transactions/due-event-lanes.ts';
import { KNOWS_EMAIL, LOCK_DUE_OF_REPORTED, LOCK_REPORTED, RECORD_REPORT } from '../../sql/reports.ts';
import { transactOn } from '../../transactions/transaction.ts';
import type { RowOf } from '../row-of.ts';

/** The reported email, in its current state. */
export interface ReportedEmail {
  readonly workspaceId: WorkspaceId;
  readonly recipient: string;
  readonly status: EmailStatus;
}

/** A report with the decision on it, to be recorded. */
export interface AssessedReport {
  readonly kind: ReportKind;
  readonly verdict: ReportVerdict;
  readonly detail: object;
}

/**
 * - `recorded`: it was the first of its kind about the email.
 * - `known`: one of its kind was recorded before; nothing has changed.
 * - `under_way`: the email is being transmitted at the moment; nothing has changed.
 * - `gone`: there is no such email any more.
 */
type ReportOutcome = 'recorded' | 'known' | 'under_way' | 'gone';

/** Reports on emails. */
export class ReportStore {
  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue' | 'changes'>) {}

  /** Whether there is such an email. */
  async knows(id: EmailId): Promise<boolean> {
    const { rows } = await this.database.pool.query<{ isKnown: boolean }>(KNOWS_EMAIL, [uuidOf(id)]);
    return rows[0]!.isKnown;
  }

  /**
   * Records a report in one transaction: timeline, status, suppression, event, and the removal of the outbox row. Idempotent.
   *
   * @param assess decides what the report changes, given the current state of the email; pure
   * @throws Refusal (503) when too many changes of the email wait in this process
   */
  record(id: EmailId, assess: (email: ReportedEmail) => AssessedReport): Promise<ReportOutcome> {
    const { changes } = this.database;
    return changes.run(id, () => transactOn(this.database, (client) => recordOn(client, id, assess)));
  }
}

async function recordOn(
  client: pg.ClientBase,
  id: EmailId,
  assess: (email: ReportedEmail) => AssessedReport,
): Promise<ReportOutcome> {
  // The sender has not recorded the relay's answer yet; without the outbox row, it would record that answer as late.
  if (await isUnderWay(client, id)) return 'under_way';
  const email = await lockReported(client, id);
  if (email === undefined) return 'gone';
  return (await write(client, id, email.workspaceId, assess(email))) ? 'recorded' : 'known';
}

async function isUnderWay(client: pg.ClientBase, id: EmailId): Promise<boolean> {
  const { rows } = await client.query<{ state: string }>(LOCK_DUE_OF_REPORTED, [uuidOf(id)]);
  return rows[0]?.state === 'taken';
}

async function lockReported(client: pg.ClientBase, id: EmailId): Promise<ReportedEmail | undefined> {
  const { rows } = await client.query<RowOf<ReportedEmail, 'workspaceId'>>(LOCK_REPORTED, [uuidOf(id)]);
  const [row] = rows;
  return row && { ...row, workspaceId: idFromUuid('wrk', row.workspaceId) };
}

async function write(
  client: pg.ClientBase,
  id: EmailId,
  workspaceId: WorkspaceId,
  { kind, verdict, detail }: AssessedReport,
): Promise<boolean> {
  const { fact, isLate, status, event, suppression } = verdict;
  const { rows } = await client.query<{ recorded: number } & WithEventLanes>(RECORD_REPORT, [
    uuidOf(id),
    uuidOf(workspaceId),
    kind,
    fact,
    isLate,
    JSON.stringify(detail),
    status,
    event,
    suppression,
  ]);
  addDueEventLanes(client, rows[0]!.eventLanes);
  return rows[0]!.recorded === 1;
}

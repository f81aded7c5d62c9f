import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EmailStatus, LaneId, ReportKind, ReportVerdict } from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../connection.ts';
import { addDueEventLanes } from '../due-event-lanes.ts';
import { KNOWS_EMAIL, LOCK_DUE_OF_REPORTED, LOCK_REPORTED, RECORD_REPORT } from '../sql/reports.ts';
import { transactOn } from '../transaction.ts';
import type { RowOf } from './row-of.ts';

/** An email that a report came about, as it is just then. */
export interface ReportedEmail {
  readonly workspaceId: WorkspaceId;
  readonly recipient: string;
  readonly status: EmailStatus;
}

/** What is recorded of a report. */
export interface JudgedReport {
  readonly kind: ReportKind;
  readonly verdict: ReportVerdict;
  readonly detail: object;
}

/**
 * - `recorded`: it was the first of its kind about the email.
 * - `known`: one of its kind was recorded before; nothing has changed.
 * - `under_way`: the email is being transmitted just now; nothing has changed.
 * - `gone`: there is no such email any more.
 */
type ReportOutcome = 'recorded' | 'known' | 'under_way' | 'gone';

/** What is reported of emails by mail that comes back. */
export class ReportStore {
  constructor(private readonly database: Pick<Database, 'pool' | 'onEventsDue'>) {}

  /** Whether there is such an email. */
  async knows(id: EmailId): Promise<boolean> {
    const { rows } = await this.database.pool.query<{ isKnown: boolean }>(KNOWS_EMAIL, [uuidOf(id)]);
    return rows[0]!.isKnown;
  }

  /**
   * Records a report in one transaction: timeline, status, suppression, event, and the end of what is due of the email. Doing it twice is doing it once.
   *
   * @param judge what the report does to the email as it is; decides and touches nothing
   */
  record(id: EmailId, judge: (email: ReportedEmail) => JudgedReport): Promise<ReportOutcome> {
    return transactOn(this.database, async (client) => {
      // The relay's answer may not be recorded yet; the sender would find the row gone and its answer late.
      if (await isUnderWay(client, id)) return 'under_way';
      const email = await lockReported(client, id);
      if (email === undefined) return 'gone';
      return (await write(client, id, email.workspaceId, judge(email))) ? 'recorded' : 'known';
    });
  }
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
  { kind, verdict, detail }: JudgedReport,
): Promise<boolean> {
  const { fact, isLate, status, event, suppression } = verdict;
  const { rows } = await client.query<{ recorded: number; eventLanes: LaneId[] | null }>(RECORD_REPORT, [
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
  addDueEventLanes(client, rows[0]!.eventLanes ?? []);
  return rows[0]!.recorded === 1;
}

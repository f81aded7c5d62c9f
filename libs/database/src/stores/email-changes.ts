import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type LaneId } from '@posthorn/domain';
import type pg from 'pg';
import { type Database } from '../connection.ts';
import { CANCEL_EMAIL, RESCHEDULE_EMAIL } from '../sql/email-changes.ts';

/** Where an email waits since it was moved. */
export interface MovedEmail {
  readonly laneId: LaneId;
  /** Whether its time has come already, so that its lane is to be rung. */
  readonly isDue: boolean;
}

/** What is changed of emails before they are taken up; each change is one statement, and so happens as a whole or not at all. */
export class EmailChanges {
  private readonly pool: pg.Pool;

  constructor(database: Database) {
    this.pool = database.pool;
  }

  /**
   * Moves an email, if this workspace has it, it is SCHEDULED and was never claimed.
   *
   * @param at null, or a time that has passed by the database's clock: now
   * @param keysKeptMs for how long after that time its idempotency keys are kept; none is kept for less than before
   */
  async reschedule(
    workspaceId: WorkspaceId,
    id: EmailId,
    at: Date | null,
    keysKeptMs: number,
  ): Promise<MovedEmail | undefined> {
    const values = [uuidOf(id), uuidOf(workspaceId), at, `${keysKeptMs} ms`];
    const { rows } = await this.pool.query<MovedEmail>(RESCHEDULE_EMAIL, values);
    return rows[0];
  }

  /** Takes an email back, if this workspace has it, it is SCHEDULED and was never claimed; says whether it was. */
  async cancel(workspaceId: WorkspaceId, id: EmailId): Promise<boolean> {
    const values = [uuidOf(id), uuidOf(workspaceId)];
    const { rows } = await this.pool.query<{ cancelled: number }>(CANCEL_EMAIL, values);
    return rows[0]!.cancelled === 1;
  }
}

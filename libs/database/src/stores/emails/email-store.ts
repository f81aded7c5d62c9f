import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Database } from '../../connection/connection.ts';
import { type CompositionRow, READ_COMPOSITION } from '../../sql/composition.ts';
import { READ_EMAIL } from '../../sql/read-email.ts';
import { composableEmail, type ComposableEmail } from './composable-email.ts';
import { type EmailRecord, emailRecord, type EmailRecordRow } from './email-record.ts';

/** How many entries of a timeline are shown, the newest ones. More than any email has by itself, but it can be moved more often. */
export const MAX_TIMELINE_ENTRIES = 500;

/** Emails as their workspace reads them. */
export class EmailStore {
  constructor(private readonly database: Database) {}

  /** The email, if this workspace has it; all of it as of one moment, so that no number is ahead of the timeline. */
  async find(workspaceId: WorkspaceId, id: EmailId): Promise<EmailRecord | undefined> {
    const values = [uuidOf(id), uuidOf(workspaceId), MAX_TIMELINE_ENTRIES];
    const { rows } = await this.database.pool.query<EmailRecordRow>(READ_EMAIL, values);
    return rows[0] && emailRecord(rows[0]);
  }

  /** What a sender would be given of the email, if this workspace has it. */
  async findComposable(workspaceId: WorkspaceId, id: EmailId): Promise<ComposableEmail | undefined> {
    const { rows } = await this.database.pool.query<CompositionRow>(READ_COMPOSITION, [
      uuidOf(id),
      uuidOf(workspaceId),
    ]);
    return rows[0] && composableEmail(rows[0]);
  }
}

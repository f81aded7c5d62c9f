import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import type { EmailChanges, EmailRecord, EmailStore } from '@posthorn/database';
import { notScheduled } from './not-scheduled.ts';

interface CancelEmailOptions {
  readonly emails: Pick<EmailStore, 'find'>;
  readonly changes: Pick<EmailChanges, 'cancel'>;
}

/** Cancels scheduled emails. */
export class CancelEmail {
  constructor(private readonly options: CancelEmailOptions) {}

  /**
   * Cancels the email; it does not count towards the monthly limit any more.
   *
   * @param operator who does it, if it is not an API key of the workspace: recorded in the audit log
   * @returns the email afterwards; undefined when the workspace has none with this id
   * @throws Refusal 409 when it was claimed for sending, or cancelled before
   */
  async cancel(workspaceId: WorkspaceId, id: EmailId, operator?: Actor): Promise<EmailRecord | undefined> {
    const { emails, changes } = this.options;
    const isCancelled = await changes.cancel(workspaceId, id, operator);
    const email = await emails.find(workspaceId, id);
    if (email !== undefined && !isCancelled) throw notScheduled(email, 'cancelled');
    return email;
  }
}

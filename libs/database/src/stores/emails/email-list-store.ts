import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import type { Page, PageRequest } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { type EmailFilter, listEmails } from '../../sql/email-list.ts';
import { BoundedSearch, type SearchBounds } from '../bounded-search.ts';
import { type EmailSummary, emailSummary } from './email-record.ts';

/** The emails of a workspace, page by page. */
export class EmailListStore {
  private readonly search: BoundedSearch<'trs'>;

  constructor({ pool }: Pick<Database, 'pool'>, bounds?: SearchBounds) {
    this.search = new BoundedSearch('trs', pool, bounds);
  }

  /** A page of the emails that match; see {@link BoundedSearch} for when it has fewer than it may. */
  list(
    workspaceId: WorkspaceId,
    page: PageRequest<EmailId>,
    filter: EmailFilter,
  ): Promise<Page<EmailSummary>> {
    return this.search.page(page, (window) => listEmails(workspaceId, window, filter), emailSummary);
  }
}

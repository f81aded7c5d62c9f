import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import type { Page, PageRequest } from '@posthorn/domain';
import type { Database } from '../connection.ts';
import { type EmailFilter, listEmails } from '../sql/email-list.ts';
import type { Stretch } from '../sql/statement.ts';
import { BoundedSearch, type SearchBounds, type SeenRow } from './bounded-search.ts';
import { type EmailSummary, emailSummary, type EmailSummaryRow } from './email-record.ts';

/** The emails of a workspace, page by page. */
export class EmailListStore {
  private readonly search: BoundedSearch<'trs'>;

  constructor(
    private readonly database: Database,
    bounds?: SearchBounds,
  ) {
    this.search = new BoundedSearch('trs', bounds);
  }

  /** A page of the emails that match; see {@link BoundedSearch} for when it has fewer than it may. */
  async list(
    workspaceId: WorkspaceId,
    filter: EmailFilter,
    page: PageRequest<EmailId>,
  ): Promise<Page<EmailSummary>> {
    const look = async (stretch: Stretch) => {
      const statement = listEmails(workspaceId, filter, stretch);
      return (await this.database.pool.query<EmailSummaryRow & SeenRow>(statement)).rows;
    };
    return this.search.page(page, look, emailSummary);
  }
}

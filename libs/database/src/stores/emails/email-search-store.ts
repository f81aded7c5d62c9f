import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Page, PageRequest } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { EmailFilter, EmailSummaryRow } from '../../sql/email-list.ts';
import { READ_EMAIL_WORKSPACE, searchEmails } from '../../sql/email-search.ts';
import { BoundedSearch, type SearchBounds } from '../bounded-search.ts';
import { type EmailSummary, emailSummary } from './email-record.ts';

/** An email, and whose it is. */
export interface FoundEmail extends EmailSummary {
  readonly workspaceId: WorkspaceId;
}

type FoundRow = EmailSummaryRow & { readonly workspaceId: string };

/** The emails of all workspaces, for those who run the installation: nothing here may be shown to a key. */
export class EmailSearchStore {
  private readonly search: BoundedSearch<'trs'>;

  constructor(
    private readonly database: Pick<Database, 'pool'>,
    bounds?: SearchBounds,
  ) {
    this.search = new BoundedSearch('trs', database.pool, bounds);
  }

  /** A page of the emails that match; see {@link BoundedSearch} for when it has fewer than it may. */
  list(page: PageRequest<EmailId>, filter: EmailFilter): Promise<Page<FoundEmail>> {
    return this.search.page(page, (window) => searchEmails(window, filter), foundEmail);
  }

  /** Whose the email is; undefined: there is none with this id. */
  async workspaceOf(id: EmailId): Promise<WorkspaceId | undefined> {
    const values = [uuidOf(id)];
    const { rows } = await this.database.pool.query<{ workspaceId: string }>(READ_EMAIL_WORKSPACE, values);
    return rows[0] && idFromUuid('wrk', rows[0].workspaceId);
  }
}

function foundEmail(row: FoundRow): FoundEmail {
  return { ...emailSummary(row), workspaceId: idFromUuid('wrk', row.workspaceId) };
}

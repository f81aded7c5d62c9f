import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { FailureClass, JsonObject, Page, PageRequest } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import type { EmailFilter, EmailSummaryRow } from '../../sql/email-list.ts';
import { LAST_FAILURES } from '../../sql/failure-class.ts';
import { READ_EMAIL_WORKSPACE, searchEmails } from '../../sql/email-search.ts';
import { BoundedSearch, type SearchBounds } from '../bounded-search.ts';
import { type EmailSummary, emailSummary } from './email-record.ts';

/** An email, and whose it is. */
export interface FoundEmail extends EmailSummary {
  readonly workspaceId: WorkspaceId;
}

/** The last failed attempt of an email. */
export interface EmailFailure {
  readonly class: FailureClass;
  /** As in the email's timeline: the answer of the relay, or the fault. */
  readonly detail: JsonObject;
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

  /** The last failed attempts of these emails; those without any are absent. */
  async lastFailures(ids: readonly EmailId[]): Promise<ReadonlyMap<EmailId, EmailFailure>> {
    if (ids.length === 0) return new Map();
    const values = [ids.map(uuidOf)];
    const { rows } = await this.database.pool.query<EmailFailure & { id: string }>(LAST_FAILURES, values);
    return new Map(rows.map(({ id, ...failure }) => [idFromUuid('trs', id), failure]));
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

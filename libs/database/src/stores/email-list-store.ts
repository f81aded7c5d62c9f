import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { opaqueStart, type Page, pageOf, type PageRequest } from '@posthorn/domain';
import type pg from 'pg';
import { type Database } from '../connection.ts';
import { type EmailFilter, listEmails } from '../sql/email-list.ts';
import { type EmailSummary, emailSummary, type EmailSummaryRow } from './email-record.ts';

/** How far a search goes for emails that are few among many. */
export interface SearchBounds {
  /** How many emails one statement looks at. */
  readonly emailsAStatement: number;
  /** For how long a page is searched, in milliseconds; what is found by then is the page. */
  readonly mostMs: number;
  /** How many searches may go beyond their first statement at once; the pages of others end there. */
  readonly mostAtOnce: number;
}

const BOUNDS: SearchBounds = { emailsAStatement: 10_000, mostMs: 1_500, mostAtOnce: 2 };

interface StretchRow extends EmailSummaryRow {
  /** Which of those that were looked at it is, from 1. */
  readonly n: number;
  readonly matches: boolean;
}

/** Where a list was read to. */
interface Stretch {
  readonly found: readonly EmailSummary[];
  /** The first email that was not looked at; undefined: it was read to its end, or to the end of the page. */
  readonly next: EmailId | undefined;
}

/** The emails of a workspace, page by page. */
export class EmailListStore {
  private readonly pool: pg.Pool;
  private searches = 0;

  constructor(
    database: Database,
    private readonly bounds: SearchBounds = BOUNDS,
  ) {
    this.pool = database.pool;
  }

  /**
   * A page of the emails that match. What a statement looks at is bounded, and so is the time for which a page is searched: when
   * only few of very many match, a page can have fewer items than it may, or none, and yet say that there is more.
   */
  async list(
    workspaceId: WorkspaceId,
    filter: EmailFilter,
    page: PageRequest<EmailId>,
  ): Promise<Page<EmailSummary>> {
    const deadline = performance.now() + this.bounds.mostMs;
    const first = await this.readStretch(workspaceId, filter, page);
    if (first.next === undefined || this.searches >= this.bounds.mostAtOnce) return toPage(first, page.limit);
    this.searches += 1;
    try {
      let read = first;
      while (read.next !== undefined && performance.now() < deadline) {
        const limit = page.limit - read.found.length;
        const more = await this.readStretch(workspaceId, filter, { ...page, limit, startAt: read.next });
        read = { found: [...read.found, ...more.found], next: more.next };
      }
      return toPage(read, page.limit);
    } finally {
      this.searches -= 1;
    }
  }

  /** Looks at so many emails, or until there are enough: one more than the page may hold. */
  private async readStretch(
    workspaceId: WorkspaceId,
    filter: EmailFilter,
    { sort, limit, startAt }: PageRequest<EmailId>,
  ): Promise<Stretch> {
    const start = startAt && uuidOf(startAt);
    const stretch = { sort, start, mostSeen: this.bounds.emailsAStatement, mostGiven: limit + 1 };
    const { text, values } = listEmails(workspaceId, filter, stretch);
    const { rows } = await this.pool.query<StretchRow>(text, [...values]);
    // The last that could be looked at begins the next stretch, whether it matches or not.
    const last = rows.find((row) => row.n === stretch.mostSeen);
    const found = rows.filter((row) => row !== last).map(emailSummary);
    return {
      found,
      next: found.length > limit || last === undefined ? undefined : idFromUuid('trs', last.id),
    };
  }
}

function toPage({ found, next }: Stretch, limit: number): Page<EmailSummary> {
  if (next === undefined) return pageOf(found, limit);
  return { items: found, hasMore: true, startAt: opaqueStart(next) };
}

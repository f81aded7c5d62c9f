import { type Id, idFromUuid, uuidOf } from '@posthorn/kernel';
import { opaqueStart, type Page, pageOf, type PageRequest } from '@posthorn/domain';
import type pg from 'pg';
import type { Statement, ScanWindow } from '../sql/statement.ts';

/** How far a search goes for rows that are few among many. */
export interface SearchBounds {
  /** How many rows one statement looks at. */
  readonly rowsPerStatement: number;
  /** For how long a page is searched, in milliseconds; what is found by then is the page. */
  readonly maxMs: number;
  /** How many searches may go beyond their first statement at the same time; the pages of the others end there. */
  readonly maxAtOnce: number;
}

export const SEARCH_BOUNDS: SearchBounds = { rowsPerStatement: 10_000, maxMs: 1_500, maxAtOnce: 2 };

/** What a statement says of a row that it looked at. */
interface SeenRow {
  readonly id: string;
  /** Which of those that were looked at it is, from 1. */
  readonly n: number;
  readonly matches: boolean;
}

/** Where a list was read to. */
interface Read<Prefix extends string, Item> {
  readonly found: readonly Item[];
  /** The first row that was not looked at; undefined: it was read to its end, or to the end of the page. */
  readonly next: Id<Prefix> | undefined;
}

/**
 * Searches the pages of a list that is ordered by ids. What a statement looks at is bounded, and so is the time for which a page is
 * searched: when only few of very many rows match, a page can have fewer items than it may, or none, and yet say that there is more.
 */
export class BoundedSearch<Prefix extends string> {
  private searches = 0;

  constructor(
    private readonly prefix: Prefix,
    private readonly pool: pg.Pool,
    private readonly bounds: SearchBounds = SEARCH_BOUNDS,
  ) {}

  /**
   * A page.
   *
   * @param statementOf what reads a stretch of the list: see `boundedScan`
   * @param itemOf what a row is shown as
   */
  async page<Row extends object, Item extends { readonly id: Id<string> }>(
    page: PageRequest<Id<Prefix>>,
    statementOf: (window: ScanWindow) => Statement,
    itemOf: (row: Row) => Item,
  ): Promise<Page<Item>> {
    const deadline = performance.now() + this.bounds.maxMs;
    const readFrom = (from: PageRequest<Id<Prefix>>): Promise<Read<Prefix, Item>> =>
      this.read(from, statementOf, itemOf);
    const first = await readFrom(page);
    if (first.next === undefined || this.searches >= this.bounds.maxAtOnce) return toPage(first, page.limit);
    this.searches += 1;
    try {
      let read = first;
      while (read.next !== undefined && performance.now() < deadline) {
        const limit = page.limit - read.found.length;
        const more = await readFrom({ ...page, limit, startAt: read.next });
        read = { found: [...read.found, ...more.found], next: more.next };
      }
      return toPage(read, page.limit);
    } finally {
      this.searches -= 1;
    }
  }

  /** Looks at so many rows, or until there are enough: one more than the page may hold. */
  private async read<Row extends object, Item>(
    { sort, limit, startAt }: PageRequest<Id<Prefix>>,
    statementOf: (window: ScanWindow) => Statement,
    itemOf: (row: Row) => Item,
  ): Promise<Read<Prefix, Item>> {
    const maxSeen = this.bounds.rowsPerStatement;
    const window = { sort, start: startAt && uuidOf(startAt), maxSeen, maxGiven: limit + 1 };
    const { rows } = await this.pool.query<Row & SeenRow>(statementOf(window));
    // The last that could be looked at begins the next stretch, whether it matches or not.
    const last = rows.find((row) => row.n === maxSeen);
    const found = rows.filter((row) => row !== last).map(itemOf);
    const isDone = found.length > limit || last === undefined;
    return { found, next: isDone ? undefined : idFromUuid(this.prefix, last.id) };
  }
}

function toPage<Prefix extends string, Item extends { readonly id: Id<string> }>(
  { found, next }: Read<Prefix, Item>,
  limit: number,
): Page<Item> {
  if (next === undefined) return pageOf(found, limit);
  return { items: found, hasMore: true, startAt: opaqueStart(next) };
}

import { type Id, idFromUuid, uuidOf } from '@posthorn/kernel';
import { opaqueStart, type Page, pageOf, type PageRequest } from '@posthorn/domain';
import type pg from 'pg';
import type { Statement, ScanWindow } from '../sql/statement.ts';

/** Limits of a search for rare matches among many rows. */
export interface SearchBounds {
  /** How many rows one statement examines. */
  readonly rowsPerStatement: number;
  /** Time limit of a page, in milliseconds; the page contains what was found by then. */
  readonly maxMs: number;
  /** How many searches may run more than one statement concurrently; the pages of further ones end after their first. */
  readonly maxAtOnce: number;
}

export const SEARCH_BOUNDS: SearchBounds = { rowsPerStatement: 10_000, maxMs: 1_500, maxAtOnce: 2 };

/** A row that a statement examined. */
interface SeenRow {
  readonly id: string;
  /** Its number among the examined rows, from 1. */
  readonly n: number;
}

/** The items that were found, and where the search ended. */
interface Read<Prefix extends string, Item> {
  readonly found: readonly Item[];
  /** The first row that was not examined; undefined: the list or the page ended. */
  readonly next: Id<Prefix> | undefined;
}

/**
 * Searches a list that is ordered by ids, page by page. The rows per statement and the time per page are limited: if only few of very
 * many rows match, a page can be short or empty although there is more.
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
   * @param statementOf the statement that examines the next rows of the list: see `boundedScan`
   * @param itemOf converts a row to an item
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

  /** Examines rows until there are enough items, which is one more than the page may hold, or the limits are reached. */
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

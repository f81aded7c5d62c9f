import { type Id, uuidOf } from '@posthorn/kernel';
import type { PageRequest, Sort } from '@posthorn/domain';

/** Where a scan of a list starts, and its limits. */
export interface ScanWindow {
  readonly sort: Sort;
  /** The UUID at which the scan starts, inclusive. */
  readonly start: string | undefined;
  readonly maxSeen: number;
  readonly maxGiven: number;
}

/** A dynamically built statement with its values, as the driver takes it. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** Collects the values of a statement and numbers their parameters. */
export class Values {
  readonly list: unknown[] = [];

  add(value: unknown, type: string): string {
    return `$${this.list.push(value)}::${type}`;
  }

  /** The condition on a value, if that is defined; otherwise none. */
  given(value: unknown, type: string, condition: (parameter: string) => string): string[] {
    return value === undefined ? [] : [condition(this.add(value, type))];
  }
}

/** A filter by time of creation. */
export interface CreatedBetween {
  /** Inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}

/** The start of a scan and its time bounds, as bounds of the id. */
export function boundsOf(
  { createdAfter, createdBefore }: CreatedBetween,
  { sort, start }: ScanWindow,
  values: Values,
): string[] {
  return [
    ...values.given(createdAfter, 'timestamptz', (moment) => `id >= uuid_v7_floor(${moment})`),
    ...values.given(createdBefore, 'timestamptz', (moment) => `id < uuid_v7_floor(${moment})`),
    ...values.given(start, 'uuid', (first) => `id ${inOrder(sort).from} ${first}`),
  ];
}

/** What to scan. */
interface Listed {
  /** The FROM item to scan. */
  readonly table: string;
  /** Conditions by which an index is read. */
  readonly indexConditions: readonly string[];
  /** Further conditions, which are checked for each row scanned. */
  readonly filters: readonly string[];
  /** The columns returned, and the FROM clause that joins their tables to `given g`. */
  readonly shown: string;
}

/**
 * Scans a list in the order of its ids. It scans at most `maxSeen` rows, however few of them match, and numbers them by `n`; the last row that it may scan is
 * returned whether it matches or not, so that the reader knows where to continue.
 */
export function boundedScan(window: ScanWindow, values: Values, listed: Listed): Statement {
  const { order } = inOrder(window.sort);
  const maxSeen = values.add(window.maxSeen, 'int');
  const text = `
WITH seen AS (
  SELECT   id, row_number() OVER (ORDER BY id ${order})::int AS n, ${all(listed.filters)} AS matches
  FROM     ${listed.table}
  WHERE    ${all(listed.indexConditions)}
  ORDER BY id ${order}
  LIMIT    ${maxSeen}
),
given AS (
  SELECT * FROM seen WHERE matches OR n = ${maxSeen} ORDER BY id ${order} LIMIT ${values.add(window.maxGiven, 'int')}
)
SELECT   g.n, ${listed.shown}
ORDER BY g.id ${order}`;
  return { text, values: values.list };
}

/** The conjunction of conditions. */
export function all(conditions: readonly string[]): string {
  return conditions.join(' AND ') || 'true';
}

/** The ORDER BY direction of ids, and the comparison with the first id. */
export function inOrder(sort: Sort): { readonly order: string; readonly from: string } {
  return sort === 'createdAt.asc' ? { order: 'ASC', from: '>=' } : { order: 'DESC', from: '<=' };
}

/**
 * Reads a page of a list in the order of its ids, and one more row, with which the next page starts.
 *
 * @param selected the SELECT and FROM clauses
 * @param conditions conditions on the rows; their values are in `values`
 */
export function pageStatement(
  selected: string,
  conditions: readonly string[],
  { limit, sort, startAt }: PageRequest<Id<string>>,
  values: Values,
): Statement {
  const { order, from } = inOrder(sort);
  const start = values.given(startAt && uuidOf(startAt), 'uuid', (first) => `id ${from} ${first}`);
  const text = `${selected}
WHERE    ${all([...conditions, ...start])}
ORDER BY id ${order}
LIMIT    ${values.add(limit + 1, 'int')}`;
  return { text, values: values.list };
}

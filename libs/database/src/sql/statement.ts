import { FIRST_ID, type Id, uuidOf } from '@posthorn/kernel';
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
  given<Condition>(value: unknown, type: string, condition: (parameter: string) => Condition): Condition[] {
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

/** No id comes after it. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The ids of a list, inclusive, as SQL expressions; undefined: no bound. */
export interface IdRange {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The start of a scan and its time bounds, as bounds of the id. (No id is the floor of a time, so it makes no difference that they are inclusive.) */
export function rangeOf(
  { createdAfter, createdBefore }: CreatedBetween,
  { sort, start }: Pick<ScanWindow, 'sort' | 'start'>,
  values: Values,
): IdRange {
  const floorOf = (moment: string): string => `uuid_v7_floor(${moment})`;
  const from = values.given(createdAfter, 'timestamptz', floorOf);
  const to = values.given(createdBefore, 'timestamptz', floorOf);
  (sort === 'createdAt.asc' ? from : to).push(...values.given(start, 'uuid', (first) => first));
  return {
    from: from.length === 0 ? undefined : `greatest(${from.join(', ')})`,
    to: to.length === 0 ? undefined : `least(${to.join(', ')})`,
  };
}

/** A column that has the same value in all rows of a list, and comes before the id in the index that the list is read by. */
export interface Equality {
  readonly column: string;
  readonly value: string;
}

/** An equality as a condition. */
export function equalityOf({ column, value }: Equality): string {
  return `${column} = ${value}`;
}

/**
 * The conditions and the ORDER BY of a list that is read by the index of these columns and the id.
 *
 * They are sorted by together, because only that index has this order. By `column = value` and the order of the ids alone, Postgres prefers the
 * primary key for whoever has a good part of all rows, expecting to meet one soon: if the last of them is weeks old, it reads the rows of everybody else since
 * then, and the statement runs out of time. The first column is compared with an array of one value, which Postgres does not take for a constant; the others
 * are compared with the id as a row, where a scan ends when the first of these is over. In Postgres 15 it would not end where only a later column of a row is
 * over, and an array of a later column would lose the order of the index. The bounds of the id alone are for pruning partitions.
 */
export function inIndexOrder(
  equalities: readonly Equality[],
  { from, to }: IdRange,
  sort: Sort,
): { readonly conditions: readonly string[]; readonly order: string } {
  const { order } = inOrder(sort);
  const [first, ...others] = equalities;
  const keyOf = (place: 'column' | 'value', id: string): string =>
    `(${[...others.map((equality) => equality[place]), id].join(', ')})`;
  const key = keyOf('column', 'id');
  const ofKey =
    others.length === 0
      ? []
      : [
          `${key} >= ${keyOf('value', from ?? `'${FIRST_ID}'`)}`,
          `${key} <= ${keyOf('value', to ?? `'${LAST_ID}'`)}`,
        ];
  const columns = [...equalities.map(({ column }) => column), 'id'];
  return {
    conditions: [
      ...(first === undefined ? [] : [`${first.column} = ANY (ARRAY[${first.value}])`]),
      ...ofKey,
      ...(from === undefined ? [] : [`id >= ${from}`]),
      ...(to === undefined ? [] : [`id <= ${to}`]),
    ],
    order: columns.map((column) => `${column} ${order}`).join(', '),
  };
}

/** What to scan. */
interface Listed {
  /** The FROM item to scan. */
  readonly table: string;
  /** The columns before the id in the index that is read; absent: it is that of the id. */
  readonly equalities?: readonly Equality[];
  readonly range?: IdRange;
  /** Further conditions by which rows are not even counted as scanned, such as those of a partial index. */
  readonly conditions?: readonly string[];
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
  const { equalities = [], range = {}, conditions = [], filters } = listed;
  const inIndex = inIndexOrder(equalities, range, window.sort);
  const { order } = inOrder(window.sort);
  // The page has the order of the scan, so that this ends when the page is full.
  const keys = equalities.map(({ column }, place) => ({ column, name: `key${place}` }));
  const givenOrder = [...keys.map(({ name }) => name), 'id'].map((name) => `${name} ${order}`).join(', ');
  const maxSeen = values.add(window.maxSeen, 'int');
  const text = `
WITH seen AS (
  SELECT   ${keys.map(({ column, name }) => `${column} AS ${name}, `).join('')}id,
           row_number() OVER (ORDER BY ${inIndex.order})::int AS n, ${all(filters)} AS matches
  FROM     ${listed.table}
  WHERE    ${all([...inIndex.conditions, ...conditions])}
  ORDER BY ${inIndex.order}
  LIMIT    ${maxSeen}
),
given AS (
  SELECT * FROM seen WHERE matches OR n = ${maxSeen} ORDER BY ${givenOrder} LIMIT ${values.add(window.maxGiven, 'int')}
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
 * @param equalities the columns before the id in the index that is read; their values are in `values`
 * @param conditions further conditions on the rows
 * @param created when they were created
 */
export function pageStatement(
  selected: string,
  {
    equalities = [],
    conditions = [],
    created = {},
  }: Pick<Listed, 'equalities' | 'conditions'> & { readonly created?: CreatedBetween },
  { limit, sort, startAt }: PageRequest<Id<string>>,
  values: Values,
): Statement {
  const range = rangeOf(created, { sort, start: startAt && uuidOf(startAt) }, values);
  const inIndex = inIndexOrder(equalities, range, sort);
  const text = `${selected}
WHERE    ${all([...inIndex.conditions, ...conditions])}
ORDER BY ${inIndex.order}
LIMIT    ${values.add(limit + 1, 'int')}`;
  return { text, values: values.list };
}

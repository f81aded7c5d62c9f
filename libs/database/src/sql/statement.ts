import { type Id, uuidOf } from '@posthorn/kernel';
import type { PageRequest, Sort } from '@posthorn/domain';

/** A stretch of a list: where it begins, how many rows it may look at, and how many it may give. */
export interface Stretch {
  readonly sort: Sort;
  /** The native key of the first row that may be in it. */
  readonly start: string | undefined;
  readonly maxSeen: number;
  readonly maxGiven: number;
}

/** A statement that is made for what is asked, with its values, as the driver takes it. */
export interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

/** The values of a statement, numbered as they are named. */
export class Values {
  readonly list: unknown[] = [];

  add(value: unknown, type: string): string {
    return `$${this.list.push(value)}::${type}`;
  }

  /** The condition with a value, if that is given; else none. */
  given(value: unknown, type: string, condition: (parameter: string) => string): string[] {
    return value === undefined ? [] : [condition(this.add(value, type))];
  }
}

/** Between which times that happened which the rows of a list are about. */
export interface CreatedBetween {
  /** At this moment or later. */
  readonly createdAfter?: Date | undefined;
  /** Before this moment. */
  readonly createdBefore?: Date | undefined;
}

/** Where a stretch begins, and between which times it lies, as bounds of the id. */
export function boundsOf(
  { createdAfter, createdBefore }: CreatedBetween,
  { sort, start }: Stretch,
  values: Values,
): string[] {
  return [
    ...values.given(createdAfter, 'timestamptz', (moment) => `id >= uuid_v7_floor(${moment})`),
    ...values.given(createdBefore, 'timestamptz', (moment) => `id < uuid_v7_floor(${moment})`),
    ...values.given(start, 'uuid', (first) => `id ${inOrder(sort).from} ${first}`),
  ];
}

/** What a stretch is read of. */
interface Listed {
  /** What FROM says of the table that is looked at. */
  readonly table: string;
  /** What an index is read by, and what of that matches. */
  readonly scanned: readonly string[];
  readonly sifted: readonly string[];
  /** What is shown of each row of `given g`, and out of which tables. */
  readonly shown: string;
}

/**
 * Reads a stretch of a list in the order of its ids. It looks at no more than `maxSeen` rows, whatever is asked and however few of them match: `n`
 * numbers what it looks at, and the last that it may look at is given whether it matches or not, so that the reader knows where to go on.
 */
export function readStretch(stretch: Stretch, values: Values, listed: Listed): Statement {
  const { order } = inOrder(stretch.sort);
  const maxSeen = values.add(stretch.maxSeen, 'int');
  const text = `
WITH seen AS (
  SELECT   id, row_number() OVER (ORDER BY id ${order})::int AS n, ${all(listed.sifted)} AS matches
  FROM     ${listed.table}
  WHERE    ${all(listed.scanned)}
  ORDER BY id ${order}
  LIMIT    ${maxSeen}
),
given AS (
  SELECT * FROM seen WHERE matches OR n = ${maxSeen} ORDER BY id ${order} LIMIT ${values.add(stretch.maxGiven, 'int')}
)
SELECT   g.n, g.matches, ${listed.shown}
ORDER BY g.id ${order}`;
  return { text, values: values.list };
}

/** Whether all of this is so. */
export function all(conditions: readonly string[]): string {
  return conditions.join(' AND ') || 'true';
}

/** How ids are ordered, and on which side of the first one the others are. */
export function inOrder(sort: Sort): { readonly order: string; readonly from: string } {
  return sort === 'createdAt.asc' ? { order: 'ASC', from: '>=' } : { order: 'DESC', from: '<=' };
}

/**
 * Reads a page of a list in the order of its ids, and one row more, by which the next page begins.
 *
 * @param selected what is read of which table
 * @param conditions which rows are in the list; their values are in `values`
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

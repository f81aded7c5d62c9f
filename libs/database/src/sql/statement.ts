import { type Id, uuidOf } from '@posthorn/kernel';
import type { PageRequest, Sort } from '@posthorn/domain';

/** A stretch of a list: where it begins, how many rows it may look at, and how many it may give. */
export interface Stretch {
  readonly sort: Sort;
  /** The native key of the first row that may be in it. */
  readonly start: string | undefined;
  readonly mostSeen: number;
  readonly mostGiven: number;
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
  const floor = (moment: Date): string => `uuid_v7_floor(${values.add(moment, 'timestamptz')})`;
  return [
    ...(createdAfter === undefined ? [] : [`id >= ${floor(createdAfter)}`]),
    ...(createdBefore === undefined ? [] : [`id < ${floor(createdBefore)}`]),
    ...(start === undefined
      ? []
      : [`id ${sort === 'createdAt.asc' ? '>=' : '<='} ${values.add(start, 'uuid')}`]),
  ];
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
  const [from, order] = sort === 'createdAt.asc' ? ['>=', 'ASC'] : ['<=', 'DESC'];
  const start = startAt === undefined ? [] : [`id ${from} ${values.add(uuidOf(startAt), 'uuid')}`];
  const text = `${selected}
WHERE    ${[...conditions, ...start].join(' AND ')}
ORDER BY id ${order}
LIMIT    ${values.add(limit + 1, 'int')}`;
  return { text, values: values.list };
}

import { type Id, parseId } from '@posthorn/kernel';
import { parseTimestamp } from './send-at.ts';

/** In which order a list is read. */
export type Sort = 'createdAt.desc' | 'createdAt.asc';

export const SORTS: readonly Sort[] = ['createdAt.desc', 'createdAt.asc'];

/** How many items a page has at least, at most, and when nobody says. */
export const PAGE_LIMITS = { min: 1, max: 100, default: 50 } as const;

/** Which page of a list is wanted; `Start` is the place of its first item, none for the first page. */
export interface PageRequest<Start> {
  readonly limit: number;
  readonly sort: Sort;
  readonly startAt?: Start | undefined;
}

/** A page of a list. `startAt` is what the next page is asked for with: null on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly startAt: string | null;
}

/** The place of an item in a list that is ordered by id, as the interface shows it: an id carries its time first. */
export function opaqueStart(id: Id<string>): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

/** The id that an opaque place stands for; undefined when it is malformed. */
export function parseOpaqueStart<Prefix extends string>(
  prefix: Prefix,
  text: string,
): Id<Prefix> | undefined {
  return parseId(prefix, `${prefix}_${text}`);
}

/** The page of which one item more than `limit` was read, to see whether there is a next one. */
export function pageOf<Item extends { readonly id: Id<string> }>(
  read: readonly Item[],
  limit: number,
): Page<Item> {
  const next = read[limit];
  return page(read.slice(0, limit), next && opaqueStart(next.id));
}

/**
 * The page of a short list that is ordered by time, and of which all is at hand: the place of an item is its time, so
 * items of the same millisecond are never split over two pages, and a page may be longer than `limit` for that.
 */
export function pageByTime<Item extends { readonly id: Id<string>; readonly createdAt: Date }>(
  all: readonly Item[],
  { limit, sort, startAt }: PageRequest<number>,
): Page<Item> {
  const direction = sort === 'createdAt.asc' ? 1 : -1;
  const inOrder = all
    .filter(({ createdAt }) => startAt === undefined || (createdAt.getTime() - startAt) * direction >= 0)
    .sort((a, b) => (a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1)) * direction);
  let end = Math.min(limit, inOrder.length);
  while (end < inOrder.length && timeOfItem(inOrder[end]!) === timeOfItem(inOrder[end - 1]!)) end += 1;
  return page(inOrder.slice(0, end), inOrder[end]?.createdAt.toISOString());
}

function page<Item>(items: readonly Item[], startAt: string | undefined): Page<Item> {
  return { items, hasMore: startAt !== undefined, startAt: startAt ?? null };
}

/** The time that a place in a list ordered by time stands for, in milliseconds since 1970; undefined when it is malformed. */
export function parseTimeStart(text: string): number | undefined {
  const parsed = parseTimestamp(text);
  return 'fault' in parsed ? undefined : parsed.atMs;
}

function timeOfItem({ createdAt }: { readonly createdAt: Date }): number {
  return createdAt.getTime();
}

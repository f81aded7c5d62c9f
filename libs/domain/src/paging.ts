import { type Id, parseId } from '@posthorn/kernel';
import { parseTimestamp } from './send-at.ts';

/** The orders of a list. */
export const SORTS = ['createdAt.desc', 'createdAt.asc'] as const;

export type Sort = (typeof SORTS)[number];

/** The number of items of a page. */
export const PAGE_LIMITS = { min: 1, max: 100, default: 50 } as const;

/** A request for a page of a list; `startAt` is the position of its first item, absent for the first page. */
export interface PageRequest<Start> {
  readonly limit: number;
  readonly sort: Sort;
  readonly startAt?: Start | undefined;
}

/** A page of a list. `startAt` is the position of the next page: null on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly startAt: string | null;
}

/** The position of an item in a list that is ordered by id, and so by time, as the API represents it. */
export function opaqueStart(id: Id<string>): string {
  return id.slice(id.lastIndexOf('_') + 1);
}

/** The id that an opaque position represents; undefined when it is malformed. */
export function parseOpaqueStart<Prefix extends string>(
  prefix: Prefix,
  text: string,
): Id<Prefix> | undefined {
  return parseId(prefix, `${prefix}_${text}`);
}

/** Makes a page of items of which up to `limit + 1` were read, to know whether there is a next page. */
export function pageOf<Item extends { readonly id: Id<string> }>(
  read: readonly Item[],
  limit: number,
): Page<Item> {
  const next = read[limit];
  return page(read.slice(0, limit), next && opaqueStart(next.id));
}

/**
 * A page of a short list that is in memory and ordered by time. The position of an item is its time, so items of the same millisecond
 * are always on the same page, which may therefore be longer than `limit`.
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

/** Parses a position in a list that is ordered by time, into milliseconds since 1970; undefined when it is malformed. */
export function parseTimeStart(text: string): number | undefined {
  const parsed = parseTimestamp(text);
  return 'fault' in parsed ? undefined : parsed.atMs;
}

function timeOfItem({ createdAt }: { readonly createdAt: Date }): number {
  return createdAt.getTime();
}

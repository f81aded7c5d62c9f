import { type Id, uuidOf } from '@posthorn/kernel';
import type { PageRequest } from '@posthorn/domain';

/**
 * Prisma's arguments for a page of a list in the order of ids, with one more row, with which the next page begins. `from` belongs into
 * `where`.
 */
export function prismaPage({ limit, sort, startAt }: PageRequest<Id<string>>) {
  const isAscending = sort === 'createdAt.asc';
  const start = startAt && uuidOf(startAt);
  return {
    from: start === undefined ? {} : { id: isAscending ? { gte: start } : { lte: start } },
    orderBy: { id: isAscending ? 'asc' : 'desc' },
    take: limit + 1,
  } as const;
}

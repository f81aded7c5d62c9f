import { type Id, uuidOf } from '@posthorn/kernel';
import type { PageRequest } from '@posthorn/domain';

/** Prisma's arguments for a page of the rows that match, in the order of ids, with one more row, with which the next page begins. */
export function prismaPage<Where extends object>(
  { limit, sort, startAt }: PageRequest<Id<string>>,
  where: Where,
) {
  const isAscending = sort === 'createdAt.asc';
  const start = startAt && uuidOf(startAt);
  return {
    where: { ...where, ...(start !== undefined && { id: isAscending ? { gte: start } : { lte: start } }) },
    orderBy: { id: isAscending ? 'asc' : 'desc' },
    take: limit + 1,
  } as const;
}

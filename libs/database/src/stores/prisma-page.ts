import { type Id, uuidOf } from '@posthorn/kernel';
import type { PageRequest } from '@posthorn/domain';

/** A page of a list as Prisma takes it, in the order of ids; and one row more, by which the next page begins. `from` goes into its `where`. */
export function prismaPage({ limit, sort, startAt }: PageRequest<Id<string>>) {
  const isAscending = sort === 'createdAt.asc';
  const start = startAt && uuidOf(startAt);
  return {
    from: start === undefined ? {} : { id: isAscending ? { gte: start } : { lte: start } },
    orderBy: { id: isAscending ? 'asc' : 'desc' },
    take: limit + 1,
  } as const;
}

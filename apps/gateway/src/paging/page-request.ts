import { type Id, Refusal } from '@posthorn/kernel';
import { PAGE_LIMITS, type PageRequest, parseOpaqueStart, parseTimeStart } from '@posthorn/domain';
import type { PageQuery } from './page-query.ts';

/** The page of a list that is ordered by ids with this prefix. @throws Refusal (400) for a malformed `startAt` */
export function pageById<Prefix extends string>(prefix: Prefix, query: PageQuery): PageRequest<Id<Prefix>> {
  return pageRequest(query, (text) => parseOpaqueStart(prefix, text));
}

/** The page of a short list that is ordered by time alone. @throws Refusal (400) for a malformed `startAt` */
export function pageByCreationTime(query: PageQuery): PageRequest<number> {
  return pageRequest(query, parseTimeStart);
}

function pageRequest<Start>(
  { limit, sort = 'createdAt.desc', startAt }: PageQuery,
  parse: (text: string) => Start | undefined,
): PageRequest<Start> {
  const start = startAt === undefined ? undefined : parse(startAt);
  if (startAt !== undefined && start === undefined) {
    throw new Refusal(
      400,
      '`startAt` is malformed; give back what the last page had in `startAt`, unchanged',
    );
  }
  return {
    limit: limit === undefined ? PAGE_LIMITS.default : Number(limit),
    sort,
    startAt: start,
  };
}

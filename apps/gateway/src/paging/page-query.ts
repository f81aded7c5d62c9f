import { PAGE_LIMITS, type Sort, SORTS } from '@posthorn/domain';
import { pageLimit } from '../validation/query-rules.ts';
import { Optional } from '../validation/rule.ts';
import { oneOfWords, singleLine } from '../validation/text-rules.ts';

/** The parameters of every list; a list with filters has a class that extends this one. */
export class PageQuery {
  @Optional(pageLimit, 'How many items a page has at most.', {
    default: PAGE_LIMITS.default,
    example: 20,
  })
  limit?: string;

  @Optional(oneOfWords('Sort', SORTS), 'Newest first, or oldest first.', {
    default: 'createdAt.desc',
    example: 'createdAt.asc',
  })
  sort?: Sort;

  @Optional(
    singleLine({ max: 100, unit: 'characters' }),
    'Where the page begins: the `startAt` of the previous page. If absent, the first page.',
  )
  startAt?: string;
}

import { listOf, nullable, text, truth } from '../openapi/answer-schemas.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { Shown } from '../openapi/shown.ts';

/** A page of a list, as every list is answered (G10). */
export interface PageAnswer<Item> {
  items: readonly Item[];
  hasMore: boolean;
  startAt: string | null;
}

/**
 * The class that the answer class of a page extends.
 *
 * @param sentence says what the items are
 * @param startAt what `startAt` is where there is a next page: the time of its first item in the lists of few; opaque in all others
 */
export function pageOf<Item extends object>(
  sentence: string,
  itemClass: new () => Item,
  startAt: JsonSchema = text,
): new () => PageAnswer<Item> {
  class Page implements PageAnswer<Item> {
    @Shown(sentence, listOf(itemClass))
    items!: readonly Item[];

    @Shown('Whether there is a next page.', truth, { example: false })
    hasMore!: boolean;

    @Shown('Send it as `startAt` to get the next page; `null` on the last page.', nullable(startAt), {
      example: null,
    })
    startAt!: string | null;
  }
  return Page;
}

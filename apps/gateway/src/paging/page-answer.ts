import { listOf, nullable, text, bool } from '../openapi/answer-schemas.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { AnswerField } from '../openapi/answer-field.ts';

/** A page of any list (G10). */
export interface PageAnswer<Item> {
  items: readonly Item[];
  hasMore: boolean;
  startAt: string | null;
}

/**
 * A base class for the answer class of a page.
 *
 * @param sentence describes the items
 * @param items the schema or the answer class of an item
 * @param startAt the schema of `startAt` where there is a next page: the time of its first item in short lists; opaque in all others
 */
export function pageOf<Item extends object>(
  sentence: string,
  items: JsonSchema | (new () => Item),
  startAt: JsonSchema = text,
): new () => PageAnswer<Item> {
  class Page implements PageAnswer<Item> {
    @AnswerField(sentence, listOf(items))
    items!: readonly Item[];

    @AnswerField('Whether there is a next page.', bool, { example: false })
    hasMore!: boolean;

    @AnswerField('Send it as `startAt` to get the next page; `null` on the last page.', nullable(startAt), {
      example: null,
    })
    startAt!: string | null;
  }
  return Page;
}

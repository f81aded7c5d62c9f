import type { EventId } from '@posthorn/kernel';
import { EVENT_NAMES, type EventName, PAGE_LIMITS } from '@posthorn/domain';
import { eventId, pageLimit } from '../validation/query-rules.ts';
import { Optional } from '../validation/rule.ts';
import { oneOfWords, singleLine } from '../validation/text-rules.ts';

/** The start and the filter of a read of the feed. */
export class EventsQuery {
  @Optional(pageLimit, 'How many events a page has at most.', {
    default: PAGE_LIMITS.default,
    example: 20,
  })
  limit?: string;

  @Optional(
    singleLine({ max: 100, unit: 'characters' }),
    'Where the page begins: the `startAt` or `resumeAt` of an earlier one. If absent, the oldest event that is kept.',
  )
  startAt?: string;

  @Optional(eventId, 'The id of an event: the page begins after it. Use instead of `startAt`.')
  after?: EventId;

  @Optional(oneOfWords('EventName', EVENT_NAMES), 'Only events of this name.', { example: 'CONTACT_CREATED' })
  event?: EventName;
}

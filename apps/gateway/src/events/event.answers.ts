import type { EventName } from '@posthorn/domain';
import { objectOf, text } from '../openapi/answer-schemas.ts';
import { feedEvent } from '../openapi/feed-events.ts';
import { AnswerField } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

/** An event of the feed. */
interface FeedEvent {
  readonly id: string;
  readonly event: EventName;
  readonly createdAt: string;
  readonly data: object;
}

class EventPage extends pageOf<FeedEvent>('The events of the page, in their order.', feedEvent) {
  @AnswerField(
    'The position at which to continue, now or later: after all events that this page contains or has examined. New events come after it.',
    text,
    { example: '1-841203-1893456000000-00000000000000000000000000' },
  )
  resumeAt!: string;
}

/** The answer that shows events. */
export class EventsAnswer {
  @AnswerField('A page of the events of the workspace.', objectOf(EventPage))
  events!: EventPage;
}

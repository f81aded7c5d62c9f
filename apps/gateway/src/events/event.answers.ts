import { EVENT_NAMES, EVENTS } from '@posthorn/domain';
import { allOf, idOf, objectOf, text, time, enumOf } from '../openapi/answer-schemas.ts';
import { eventDataSchema, eventWithDataSchema } from '../openapi/event-webhooks.ts';
import { AnswerField } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

/** An event of the feed. */
class FeedEvent {
  @AnswerField('The id of the event, which is the `webhook-id` of its deliveries.', idOf('evt'))
  id!: string;

  @AnswerField('The name of the event.', enumOf(EVENT_NAMES))
  event!: string;

  @AnswerField('When it happened.', time)
  createdAt!: string;

  @AnswerField('The data of the event: the same `data` as in the webhook of this name.', eventDataSchema(), {
    example: EVENTS.CONTACT_CREATED.data.example,
  })
  data!: object;
}

class EventPage extends pageOf<FeedEvent>(
  'The events of the page, in their order.',
  allOf(objectOf(FeedEvent), eventWithDataSchema()),
) {
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

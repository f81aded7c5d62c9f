import { EVENT_NAMES, type EventName } from '@posthorn/domain';
import { Optional } from '../validation/rule.ts';
import { oneOfWords } from '../validation/text-rules.ts';

/** The body of the call that tests a webhook. */
export class TestWebhookRequest {
  @Optional(
    oneOfWords(EVENT_NAMES),
    'The event of which an example is posted; the webhook need not subscribe to it.',
    {
      example: 'CONTACT_CREATED',
    },
  )
  event: EventName = 'CONTACT_CREATED';
}

import { EVENT_NAMES, type EventName } from '@posthorn/domain';
import { Optional } from '../validation/rule.ts';
import { oneOfWords } from '../validation/text-rules.ts';

/** With what a webhook is tried. */
export class TestWebhookRequest {
  @Optional(
    oneOfWords(EVENT_NAMES),
    'Of which event an example is posted, whether the webhook subscribes to it or not.',
    {
      example: 'CONTACT_CREATED',
    },
  )
  event: EventName = 'CONTACT_CREATED';
}

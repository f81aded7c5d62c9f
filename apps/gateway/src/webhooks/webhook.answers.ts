import { EVENT_NAMES, WEBHOOK_STATUSES } from '@posthorn/domain';
import { idOf, listOf, nullable, objectOf, text, time, bool, wordOf } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

/** A webhook in a list: without its token. */
export class ListedWebhook {
  @AnswerField('The id of the webhook.', idOf('wh'))
  id!: string;

  @AnswerField('The URL to which events are posted.', text, { example: 'https://example.com/webhooks' })
  url!: string;

  @AnswerField('The events that are posted.', listOf(wordOf('EventName', EVENT_NAMES)), {
    example: ['CONTACT_CREATED', 'CONTACT_UPDATED'],
  })
  events!: readonly string[];

  @AnswerWord('WebhookStatus', WEBHOOK_STATUSES)
  status!: string;

  @AnswerField('When it was created.', time)
  createdAt!: Date;
}

export class Webhook extends ListedWebhook {
  @AnswerField(
    'The secret that deliveries are signed with; `null` if it cannot be decrypted any more, because the operator has lost the key: nothing is posted until the webhook is given another one.',
    nullable(text),
    { example: 'wht_5tT0Jd1kVbqYc3xGm8ZrPn7LhWf2Es4A' },
  )
  token!: string | null;
}

/** The answer that shows a webhook. */
export class WebhookAnswer {
  @AnswerField('The webhook.', objectOf(Webhook))
  webhook!: Webhook;
}

/** The answer to another token. */
export class TokenRotatedAnswer extends WebhookAnswer {
  @AnswerField(
    'Until when `webhook-signature` also has a signature with the previous token; `null` if it no longer has one.',
    nullable(time),
  )
  previousTokenUntil!: Date | null;
}

/** The answer to a deletion. */
export class WebhookDeletedAnswer extends WebhookAnswer {
  @AnswerField('Always `true`.', bool)
  isDeleted!: true;
}

class WebhookPage extends pageOf('The webhooks of the page.', ListedWebhook, time) {}

/** The answer that lists webhooks. */
export class WebhooksAnswer {
  @AnswerField('A page of webhooks.', objectOf(WebhookPage))
  webhooks!: WebhookPage;
}

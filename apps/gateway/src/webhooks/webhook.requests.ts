import {
  ASSIGNABLE_WEBHOOK_STATUSES,
  EVENT_NAMES,
  type EventName,
  HELD_DAYS,
  TOKEN_OVERLAP_SECONDS,
  type WebhookStatus,
} from '@posthorn/domain';
import { integer } from '../validation/object-rules.ts';
import { Optional, Required } from '../validation/rule.ts';
import { oneOfWords, timeOrDay } from '../validation/text-rules.ts';
import { eventNames, webhookToken, webhookUrl } from './webhook-rules.ts';

const URL_SENTENCE =
  'The URL to which events are posted: `https://` and a public host, without a user name or a fragment.';
const TOKEN_SENTENCE = 'The secret that deliveries are signed with: 8 to 256 printable ASCII characters.';
const STATUS_SENTENCE = `\`PAUSED\` holds events for up to ${HELD_DAYS} days; \`ACTIVE\` delivers them.`;

/** A webhook that is to be created. */
export class CreateWebhookRequest {
  @Required(webhookUrl, URL_SENTENCE, { example: 'https://example.com/webhooks' })
  url!: string;

  @Required(eventNames, 'The events that are posted; repeated names count once.', {
    example: ['CONTACT_CREATED', 'CONTACT_UPDATED'],
  })
  events!: EventName[];

  @Optional(webhookToken, `${TOKEN_SENTENCE} One is made if absent: \`wht_\` and 32 random characters.`)
  token?: string;

  @Optional(oneOfWords('AssignableWebhookStatus', ASSIGNABLE_WEBHOOK_STATUSES), STATUS_SENTENCE)
  status: WebhookStatus = 'ACTIVE';
}

/** What is to be changed of a webhook; absent fields stay unchanged. */
export class UpdateWebhookRequest {
  @Optional(eventNames, 'The events that are posted from now on, instead of those before.', {
    example: ['CONTACT_CREATED', 'CONTACT_DELETED'],
  })
  events?: EventName[];

  @Optional(webhookUrl, URL_SENTENCE)
  url?: string;

  @Optional(webhookToken, TOKEN_SENTENCE)
  token?: string;

  @Optional(oneOfWords('AssignableWebhookStatus', ASSIGNABLE_WEBHOOK_STATUSES), STATUS_SENTENCE, {
    example: 'PAUSED',
  })
  status?: WebhookStatus;
}

/** The body of the call that rotates a webhook's token. */
export class RotateTokenRequest {
  @Optional(webhookToken, `${TOKEN_SENTENCE} One is made if absent: \`wht_\` and 32 random characters.`)
  token?: string;

  @Optional(
    integer(TOKEN_OVERLAP_SECONDS),
    'For how many seconds `webhook-signature` also has a signature with the previous token; 0: none from now on.',
    { example: 3_600 },
  )
  overlapSeconds: number = TOKEN_OVERLAP_SECONDS.default;
}

/** The body of the call that tests a webhook. */
export class TestWebhookRequest {
  @Optional(
    oneOfWords('EventName', EVENT_NAMES),
    'The event of which an example is posted; the webhook need not subscribe to it.',
    { example: 'CONTACT_CREATED' },
  )
  event: EventName = 'CONTACT_CREATED';
}

/** The body of the call that recovers failed deliveries. */
export class RecoverRequest {
  @Required(
    timeOrDay,
    'Only deliveries of events at this time or later; a day stands for its beginning (UTC).',
    { example: '2025-01-31T09:30:00Z' },
  )
  since!: string;

  @Optional(timeOrDay, 'Only deliveries of events before this time; now if absent or in the future.')
  until?: string;
}

import {
  type EventName,
  ASSIGNABLE_WEBHOOK_STATUSES,
  TOKEN_OVERLAP_SECONDS,
  type WebhookStatus,
} from '@posthorn/domain';
import { integer } from '../validation/object-rules.ts';
import { Optional, Required } from '../validation/rule.ts';
import { oneOfWords } from '../validation/text-rules.ts';
import { eventNames, webhookToken, webhookUrl } from './webhook-rules.ts';

const URL_SENTENCE =
  'Where events are posted to: `https://` and a public host, without a user name and without a fragment.';
const TOKEN_SENTENCE = 'The secret that deliveries are signed with: 8 to 256 printable ASCII characters.';

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

  @Optional(
    oneOfWords(ASSIGNABLE_WEBHOOK_STATUSES),
    '`PAUSED` holds events back for up to 30 days; `ACTIVE` delivers them again.',
    { example: 'PAUSED' },
  )
  status?: WebhookStatus;
}

/** The body of the call that rotates a webhook's token. */
export class RotateTokenRequest {
  @Optional(webhookToken, `${TOKEN_SENTENCE} One is made if absent: \`wht_\` and 32 random characters.`)
  token?: string;

  @Optional(
    integer(TOKEN_OVERLAP_SECONDS),
    'For how many seconds `webhook-signature` also has a signature by the previous token; 0: that token ends at once.',
    { example: 3_600 },
  )
  overlapSeconds: number = TOKEN_OVERLAP_SECONDS.default;
}

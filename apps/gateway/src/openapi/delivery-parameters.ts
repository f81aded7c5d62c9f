import { EVENT_NAMES } from '@posthorn/domain';
import { idOf, wordOf } from './answer-schemas.ts';
import type { Part } from './document-types.ts';
import type { JsonSchema } from './json-schema.ts';

/** The request headers of a delivery (W6), by their component names. */
export const DELIVERY_PARAMETERS: Readonly<Record<string, Part>> = {
  ServiceSignature: header(
    'X-Service-Signature',
    'HMAC-SHA-256 of the body in lower-case hexadecimal. The key is the whole token of the webhook; while it is being replaced, the new one.',
    { type: 'string', pattern: '^[0-9a-f]{64}$' },
  ),
  ServiceEvent: header('X-Service-Event', 'The name of the event.', wordOf('EventName', EVENT_NAMES)),
  ServiceEventId: header('X-Service-Event-Id', 'The id of the event, the same at every try.', idOf('evt')),
  ServiceDeliveryId: header(
    'X-Service-Delivery-Id',
    'The id of the event’s delivery to this webhook, the same at every try.',
    idOf('dlv'),
  ),
  ServiceAttempt: header('X-Service-Attempt', 'Which try it is, from 1.', { type: 'integer', minimum: 1 }),
  ServiceTest: {
    ...header('X-Service-Test', 'Present when somebody tests the webhook: the event did not really happen.', {
      type: 'string',
      enum: ['true'],
    }),
    required: false,
  },
  WebhookId: header(
    'webhook-id',
    'As `X-Service-Event-Id`: use it to recognise events that you already have ([Standard Webhooks](https://www.standardwebhooks.com)).',
    idOf('evt'),
  ),
  WebhookTimestamp: header(
    'webhook-timestamp',
    'When this try was signed, in seconds since 1970. Refuse what is older than a few minutes, and it cannot be replayed.',
    { type: 'integer', minimum: 0 },
  ),
  Traceparent: {
    ...header(
      'traceparent',
      'The place of this try in the trace of what caused the event ([W3C Trace Context](https://www.w3.org/TR/trace-context/)); only where the operator exports traces.',
      { type: 'string', pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' },
    ),
    required: false,
  },
  WebhookSignature: header(
    'webhook-signature',
    '`v1,` and the HMAC-SHA-256 in base 64 of `webhook-id`, `webhook-timestamp` and body, joined by dots; the key is the token. While a token is being replaced there are two, the newer first, with a space between them: one must be right.',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
  ),
};

function header(name: string, description: string, schema: JsonSchema): Part {
  return { name, in: 'header', required: true, description, schema };
}

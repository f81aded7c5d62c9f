import { ATTEMPT_ERRORS, DELIVERY_STATUSES, EVENT_NAMES } from '@posthorn/domain';
import {
  count,
  idOf,
  listOf,
  nullable,
  objectOf,
  text,
  time,
  truth,
  wordOf,
} from '../openapi/answer-schemas.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

const BODY =
  '{"event":"CONTACT_UNSUBSCRIBED","createdAt":"2030-01-31T09:29:58.000Z","data":{"contact":{"id":"ctc_01m7yxt5zwexraawhax4wxnnqq","email":"ada@example.com","properties":{},"createdAt":"2029-11-02T16:20:11.000Z","workspaceId":"wrk_01m7yxt5zwexraawhax4wxnnqq"}}}';

const headerFields: JsonSchema = { type: 'object', additionalProperties: text };

/** How an attempt ended, as lists show it. */
class AttemptOutcome {
  @Shown('When it ended.', time)
  at!: Date;

  @Shown('The status that was answered with; `null` when there was no answer.', nullable(count), {
    example: 503,
  })
  statusCode!: number | null;

  @Shown(
    '`null` when it succeeded. `internal` was a fault of the service, and costs no attempt.',
    nullable(wordOf(Object.keys(ATTEMPT_ERRORS))),
    { example: 'http' },
  )
  error!: string | null;
}

/** One POST. */
class DeliveryAttempt extends AttemptOutcome {
  @Shown('Which attempt it was: what `X-Service-Attempt` said.', count, { example: 1 })
  number!: number;

  @Shown('What went wrong where there was no answer; else `null`.', nullable(text), { example: null })
  reason!: string | null;

  @Shown(
    'The header fields of the answer, their names in lower case; `null` without one.',
    nullable(headerFields),
    {
      example: { 'content-type': 'text/plain' },
    },
  )
  headers!: Readonly<Record<string, string>> | null;

  @Shown('The first 4 KiB of the answer as text; `null` without one.', nullable(text), {
    example: 'try again later',
  })
  body!: string | null;

  @Shown('How long it took, in milliseconds.', count, { example: 84 })
  durationMs!: number;

  @Shown('Whether its outcome became known too late to count: the delivery had been taken up again.', truth, {
    example: false,
  })
  isLate!: boolean;
}

/** A delivery in a list. */
class ListedDelivery {
  @Shown('The id of the delivery: what `X-Service-Delivery-Id` says.', idOf('dlv'))
  id!: string;

  @Shown('The webhook that it is for.', idOf('wh'))
  webhookId!: string;

  @Shown('The event that it reports: the `webhook-id`.', idOf('evt'))
  eventId!: string;

  @Shown('The name of the event.', wordOf(EVENT_NAMES), { example: 'CONTACT_UNSUBSCRIBED' })
  event!: string;

  @Shown('Whether it is a test of the webhook: the event is an example and did not really happen.', truth, {
    example: false,
  })
  isTest!: boolean;

  @Shown(
    `What has become of it: ${Object.entries(DELIVERY_STATUSES)
      .map(([name, meaning]) => `\`${name}\`, ${meaning}`)
      .join('; ')}.`,
    wordOf(Object.keys(DELIVERY_STATUSES)),
  )
  status!: string;

  @Shown('Whether it is just being posted.', truth, { example: false })
  isUnderWay!: boolean;

  @Shown('How many attempts there were.', count, { example: 1 })
  attemptCount!: number;

  @Shown('How the newest attempt ended; `null` before the first.', nullable(objectOf(AttemptOutcome)), {
    example: { at: '2030-01-31T09:30:00.000Z', statusCode: 503, error: 'http' },
  })
  lastAttempt!: AttemptOutcome | null;

  @Shown('When the event happened.', time, { example: '2030-01-31T09:29:58.000Z' })
  createdAt!: Date;

  @Shown(
    'When it is posted next; `null` when it is finished, just being posted, or held: its webhook is not `ACTIVE`, or the operator holds all webhooks.',
    nullable(time),
    { example: '2030-01-31T09:30:05.000Z' },
  )
  nextAttemptAt!: Date | null;

  @Shown('When it succeeded or was given up; else `null`.', nullable(time), { example: null })
  finishedAt!: Date | null;
}

/** A delivery. */
export class Delivery extends ListedDelivery {
  @Shown('The exact body that is posted.', text, { example: BODY })
  body!: string;

  @Shown('The newest 50 attempts, the oldest first.', listOf(DeliveryAttempt))
  attempts!: readonly DeliveryAttempt[];
}

/** The answer that shows a delivery. */
export class DeliveryAnswer {
  @Shown('The delivery.', objectOf(Delivery))
  delivery!: Delivery;
}

/** A page of deliveries. */
export class DeliveryPage extends pageOf('The deliveries of the page.', ListedDelivery) {}

/** The answer that lists deliveries. */
export class DeliveriesAnswer {
  @Shown('A page of deliveries.', objectOf(DeliveryPage))
  deliveries!: DeliveryPage;
}

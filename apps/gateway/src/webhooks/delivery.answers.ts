import { ATTEMPT_ERRORS, DELIVERY_STATUSES, EVENT_NAMES } from '@posthorn/domain';
import {
  count,
  idOf,
  listOf,
  nullable,
  objectOf,
  text,
  time,
  bool,
  wordOf,
} from '../openapi/answer-schemas.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

const BODY =
  '{"event":"CONTACT_UNSUBSCRIBED","createdAt":"2030-01-31T09:29:58.000Z","data":{"contact":{"id":"ctc_01m7yxt5zwexraawhax4wxnnqq","email":"ada@example.com","properties":{},"createdAt":"2029-11-02T16:20:11.000Z","workspaceId":"wrk_01m7yxt5zwexraawhax4wxnnqq"}}}';

const headerFields: JsonSchema = { type: 'object', additionalProperties: text };

/** How an attempt ended, as lists show it. */
class AttemptOutcome {
  @AnswerField('When it ended.', time)
  at!: Date;

  @AnswerField('The status of the answer; `null` if there was none.', nullable(count), {
    example: 503,
  })
  statusCode!: number | null;

  @AnswerField(
    '`null` if it succeeded. `internal` was a fault in Posthorn, and does not use up an attempt.',
    nullable(wordOf('AttemptError', Object.keys(ATTEMPT_ERRORS))),
    { example: 'http' },
  )
  error!: string | null;
}

/** One POST. */
class DeliveryAttempt extends AttemptOutcome {
  @AnswerField('The number of the attempt, as in `X-Service-Attempt`.', count, { example: 1 })
  number!: number;

  @AnswerField('What went wrong, if there was no answer; otherwise `null`.', nullable(text), {
    example: null,
  })
  reason!: string | null;

  @AnswerField(
    'The header fields of the answer, their names in lower case; `null` without one.',
    nullable(headerFields),
    {
      example: { 'content-type': 'text/plain' },
    },
  )
  headers!: Readonly<Record<string, string>> | null;

  @AnswerField('The first 4 KiB of the answer as text; `null` without one.', nullable(text), {
    example: 'try again later',
  })
  body!: string | null;

  @AnswerField('How long it took, in milliseconds.', count, { example: 84 })
  durationMs!: number;

  @AnswerField(
    'Whether its outcome became known too late to count, because the delivery had been claimed again.',
    bool,
    { example: false },
  )
  isLate!: boolean;
}

/** A delivery in a list. */
class ListedDelivery {
  @AnswerField('The id of the delivery, as in `X-Service-Delivery-Id`.', idOf('dlv'))
  id!: string;

  @AnswerField('The webhook that it is for.', idOf('wh'))
  webhookId!: string;

  @AnswerField('The event that it reports: the `webhook-id`.', idOf('evt'))
  eventId!: string;

  @AnswerField('The name of the event.', wordOf('EventName', EVENT_NAMES), {
    example: 'CONTACT_UNSUBSCRIBED',
  })
  event!: string;

  @AnswerField(
    'Whether it is a test of the webhook: the event is an example and did not really happen.',
    bool,
    { example: false },
  )
  isTest!: boolean;

  @AnswerWord('DeliveryStatus', DELIVERY_STATUSES)
  status!: string;

  @AnswerField('Whether it is being posted at the moment.', bool, { example: false })
  isUnderWay!: boolean;

  @AnswerField('How many attempts there were.', count, { example: 1 })
  attemptCount!: number;

  @AnswerField('How the newest attempt ended; `null` before the first.', nullable(objectOf(AttemptOutcome)), {
    example: { at: '2030-01-31T09:30:00.000Z', statusCode: 503, error: 'http' },
  })
  lastAttempt!: AttemptOutcome | null;

  @AnswerField('When the event happened.', time, { example: '2030-01-31T09:29:58.000Z' })
  createdAt!: Date;

  @AnswerField(
    'When it is posted next; `null` if it is finished, being posted at the moment, or held because its webhook is not `ACTIVE` or the operator has paused all webhooks.',
    nullable(time),
    { example: '2030-01-31T09:30:05.000Z' },
  )
  nextAttemptAt!: Date | null;

  @AnswerField('When it succeeded or was given up; otherwise `null`.', nullable(time), { example: null })
  finishedAt!: Date | null;
}

export class Delivery extends ListedDelivery {
  @AnswerField('The exact body that is posted.', text, { example: BODY })
  body!: string;

  @AnswerField('The newest 50 attempts, oldest first.', listOf(DeliveryAttempt))
  attempts!: readonly DeliveryAttempt[];
}

/** The answer that shows a delivery. */
export class DeliveryAnswer {
  @AnswerField('The delivery.', objectOf(Delivery))
  delivery!: Delivery;
}

class DeliveryPage extends pageOf('The deliveries of the page.', ListedDelivery) {}

/** The answer that lists deliveries. */
export class DeliveriesAnswer {
  @AnswerField('A page of deliveries.', objectOf(DeliveryPage))
  deliveries!: DeliveryPage;
}

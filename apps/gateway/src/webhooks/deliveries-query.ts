import type { EventId } from '@posthorn/kernel';
import { DELIVERY_STATUSES, type DeliveryStatus, EVENT_NAMES, type EventName } from '@posthorn/domain';
import type { DeliveryFilter } from '@posthorn/database';
import { PageQuery } from '../paging/page-query.ts';
import { timeRange } from '../paging/time-range.ts';
import { eventId } from '../validation/query-rules.ts';
import { Optional } from '../validation/rule.ts';
import { oneOfWords, timeOrDay } from '../validation/text-rules.ts';

/** The filter of a list of deliveries; a delivery must match all given parameters. */
export class DeliveriesQuery extends PageQuery {
  @Optional(
    oneOfWords('DeliveryStatus', Object.keys(DELIVERY_STATUSES)),
    'Only deliveries with this status.',
    {
      example: 'EXHAUSTED',
    },
  )
  status?: DeliveryStatus;

  @Optional(oneOfWords('EventName', EVENT_NAMES), 'Only deliveries of events with this name.', {
    example: 'CONTACT_CREATED',
  })
  event?: EventName;

  @Optional(eventId, 'Only the delivery of this event.')
  eventId?: EventId;

  @Optional(timeOrDay, 'Only of events at this time or later; a day stands for its beginning (UTC).', {
    example: '2026-01-31',
  })
  createdAfter?: string;

  @Optional(timeOrDay, 'Only of events before this time; a day stands for its beginning (UTC).')
  createdBefore?: string;
}

/** The filter of a validated query. @throws Refusal (400) for an empty time range */
export function deliveryFilter(query: DeliveriesQuery): Required<DeliveryFilter> {
  const { status, event, eventId } = query;
  return { status, event, eventId, ...timeRange(query) };
}

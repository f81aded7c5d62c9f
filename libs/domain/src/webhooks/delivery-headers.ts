import type { DeliveryId, EventId } from '@posthorn/kernel';
import type { EventName } from '../events/events.ts';

/** The contents of the headers of an attempt to deliver an event. */
interface DeliveryFacts {
  readonly event: EventName;
  /** Whether it is a test of the webhook: the event did not happen. */
  readonly isTest?: boolean;
  readonly eventId: EventId;
  readonly deliveryId: DeliveryId;
  /** 1 for the first. */
  readonly attempt: number;
  /** When this attempt was signed, in seconds since 1970. */
  readonly unixSeconds: number;
  /** For `X-Service-Signature`. */
  readonly bodySignature: string;
  /** For `webhook-signature`. */
  readonly messageSignature: string;
  /** The trace context of this attempt (W3C Trace Context), in the trace that caused the event; absent: traces are off. */
  readonly traceparent?: string | undefined;
}

/** The header fields of a delivery. Receivers recognise duplicate events by `webhook-id`, the id of the event. */
export function deliveryHeaders(facts: DeliveryFacts): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Posthorn-Webhooks/1',
    'x-service-signature': facts.bodySignature,
    'x-service-event': facts.event,
    'x-service-event-id': facts.eventId,
    'x-service-delivery-id': facts.deliveryId,
    'x-service-attempt': String(facts.attempt),
    ...(facts.isTest && { 'x-service-test': 'true' }),
    'webhook-id': facts.eventId,
    'webhook-timestamp': String(facts.unixSeconds),
    'webhook-signature': facts.messageSignature,
    ...(facts.traceparent !== undefined && { traceparent: facts.traceparent }),
  };
}

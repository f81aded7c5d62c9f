import type { DeliveryId, EventId } from '@posthorn/kernel';
import type { EventName } from '../events/events.ts';

/** What the headers of one attempt to deliver an event say. */
interface DeliveryFacts {
  readonly event: EventName;
  /** Whether the event did not happen: somebody tries the webhook. */
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
  /** The place of this attempt in the trace of what caused the event (W3C Trace Context); absent: traces are off. */
  readonly traceparent?: string | undefined;
}

/** The header fields of a delivery. A receiver that gets an event twice knows it by `webhook-id`, which is the event's. */
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

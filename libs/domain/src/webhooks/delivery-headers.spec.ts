import { expect, it } from '@jest/globals';
import type { DeliveryId, EventId } from '@posthorn/kernel';
import { deliveryHeaders } from './delivery-headers.ts';

const FACTS = {
  event: 'CONTACT_CREATED',
  eventId: 'evt_01k9zq7v3nf4b8gq2m5c6d7e8f' as EventId,
  deliveryId: 'dlv_01k9zq7v3nf4b8gq2m5c6d7e8g' as DeliveryId,
  attempt: 3,
  unixSeconds: 1_767_323_045,
  bodySignature: 'ab12',
  messageSignature: 'v1,YQ== v1,Yg==',
} as const;

it('W6: the headers of a delivery name the event and the attempt, and carry the signatures', () => {
  expect(deliveryHeaders(FACTS)).toEqual({
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^Posthorn/),
    'x-service-signature': 'ab12',
    'x-service-event': 'CONTACT_CREATED',
    'x-service-event-id': FACTS.eventId,
    'x-service-delivery-id': FACTS.deliveryId,
    'x-service-attempt': '3',
    'webhook-id': FACTS.eventId,
    'webhook-timestamp': '1767323045',
    'webhook-signature': 'v1,YQ== v1,Yg==',
  });
});

it('W6: the ids are the same at every attempt', () => {
  const again = deliveryHeaders({ ...FACTS, attempt: 4, unixSeconds: 1_767_323_050 });
  const ids = ['x-service-event-id', 'x-service-delivery-id', 'webhook-id'];
  for (const name of ids) expect(again[name]).toBe(deliveryHeaders(FACTS)[name]);
});

it('W10: a test event is marked as one', () => {
  expect(deliveryHeaders({ ...FACTS, isTest: true })).toEqual({
    ...deliveryHeaders(FACTS),
    'x-service-test': 'true',
  });
});

it('W6: the trace context is included where there is one', () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  expect(deliveryHeaders({ ...FACTS, traceparent })).toEqual({ ...deliveryHeaders(FACTS), traceparent });
});

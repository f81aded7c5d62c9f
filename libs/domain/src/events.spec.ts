import { expect, it } from '@jest/globals';
import { EVENT_NAMES, eventPayload, isEventName } from './events.ts';

it('W2: names of events are known, names of properties are not', () => {
  expect(EVENT_NAMES.every(isEventName)).toBe(true);
  expect(['contact_created', 'constructor', ''].some(isEventName)).toBe(false);
});

it('what is posted about an event has its name, its time and its data, in this order', () => {
  const text = eventPayload('CONTACT_CREATED', new Date(0), { contact: { id: 'ctc_1' } });
  expect(text).toBe(
    '{"event":"CONTACT_CREATED","createdAt":"1970-01-01T00:00:00.000Z","data":{"contact":{"id":"ctc_1"}}}',
  );
});

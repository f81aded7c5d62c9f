import { expect, it } from '@jest/globals';
import { EVENT_NAMES, eventPayload, EVENTS, eventShape, isEventName } from './events.ts';

it('W2: names of events are recognised, names of inherited properties are not', () => {
  expect(EVENT_NAMES.every(isEventName)).toBe(true);
  expect(['contact_created', 'constructor', ''].some(isEventName)).toBe(false);
});

it('the payload of an event has its name, its time and its data, in this order', () => {
  const { data } = EVENTS.WORKSPACE_TEAM_MEMBER_JOINED;
  const text = eventPayload('WORKSPACE_TEAM_MEMBER_JOINED', new Date(0), data.example);
  expect(text).toBe(
    `{"event":"WORKSPACE_TEAM_MEMBER_JOINED","createdAt":"1970-01-01T00:00:00.000Z","data":${JSON.stringify(data.example)}}`,
  );
});

it('the shape of an event is that of its payload', () => {
  for (const name of EVENT_NAMES) {
    const { example } = eventShape(name);
    const { createdAt, data } = example as { createdAt: string; data: never };
    expect(JSON.stringify(example)).toBe(eventPayload(name, new Date(createdAt), data));
  }
  expect(eventShape('CONTACT_UPDATED').schema).toMatchObject({
    title: 'ContactUpdatedEvent',
    required: ['event', 'createdAt', 'data'],
    properties: { event: { enum: ['CONTACT_UPDATED'] }, data: { required: ['contact', 'changes'] } },
  });
});

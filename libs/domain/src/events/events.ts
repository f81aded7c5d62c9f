import {
  CONTACT_DATA,
  CONTACT_UPDATED_DATA,
  EMAIL_CLICKED_DATA,
  EMAIL_DATA,
  EMAIL_REFUSED_DATA,
  MEMBER_JOINED_DATA,
} from './event-data.ts';
import { objectShape, type Shape, tagShape, timeShape, type ValueOf } from './shapes.ts';

/**
 * The events that a webhook can subscribe to, with their meanings and data. The only definition of an event: the types of recorded events,
 * the schemas of the OpenAPI document, and the checks of the tests are derived from it.
 */
export const EVENTS = {
  CONTACT_CREATED: { meaning: 'A contact was created', data: CONTACT_DATA },
  CONTACT_UPDATED: { meaning: 'A contact was updated', data: CONTACT_UPDATED_DATA },
  CONTACT_UNSUBSCRIBED: { meaning: 'A contact unsubscribed', data: CONTACT_DATA },
  CONTACT_RESUBSCRIBED: { meaning: 'A contact resubscribed', data: CONTACT_DATA },
  CONTACT_DELETED: { meaning: 'A contact was deleted', data: CONTACT_DATA },
  WORKSPACE_TEAM_MEMBER_JOINED: { meaning: 'A team member joined the workspace', data: MEMBER_JOINED_DATA },
  EMAIL_SENT: { meaning: 'The relay took an email', data: EMAIL_DATA },
  EMAIL_DELIVERED: { meaning: 'The receiving server took an email', data: EMAIL_DATA },
  EMAIL_DELAYED: {
    meaning: 'An email was refused for now and will be tried again',
    data: EMAIL_REFUSED_DATA,
  },
  EMAIL_BOUNCED: { meaning: 'The receiving side refused an email permanently', data: EMAIL_REFUSED_DATA },
  EMAIL_COMPLAINED: { meaning: 'The recipient reported an email', data: EMAIL_DATA },
  EMAIL_FAILED: { meaning: 'An email was given up', data: EMAIL_REFUSED_DATA },
  EMAIL_OPENED: { meaning: 'An email was opened', data: EMAIL_DATA },
  EMAIL_CLICKED: { meaning: 'A link of an email was clicked', data: EMAIL_CLICKED_DATA },
} as const satisfies Record<string, { readonly meaning: string; readonly data: Shape<object> }>;

export type EventName = keyof typeof EVENTS;

export type EventDataOf<Name extends EventName> = ValueOf<(typeof EVENTS)[Name]['data']>;

/** The names of the events, in the order of the documents. */
export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

/** Whether `text` is the name of an event. */
export function isEventName(text: string): text is EventName {
  return Object.hasOwn(EVENTS, text);
}

/**
 * The body that is posted about an event: serialised once, then signed and sent unchanged. The feed shows it as it is, with the `id` of the event before its
 * members.
 */
export function eventPayload<Name extends EventName>(
  event: Name,
  createdAt: Date,
  data: EventDataOf<Name>,
): string {
  return JSON.stringify({ event, createdAt: createdAt.toISOString(), data });
}

/** The shape of {@link eventPayload}; its schema is titled `ContactCreatedEvent` for CONTACT_CREATED. */
export function eventShape(name: EventName): Shape<object> {
  const { meaning, data } = EVENTS[name];
  const words = name.split('_').map((word) => word.slice(0, 1) + word.slice(1).toLowerCase());
  const fields = {
    event: tagShape([name], 'The name of the event.'),
    createdAt: timeShape('When it happened.'),
    data: data as Shape<object>,
  };
  return objectShape(`${words.join('')}Event`, `${meaning}.`, fields);
}

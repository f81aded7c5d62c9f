import { type JsonObject } from './canonical-json.ts';

/** What a webhook can subscribe to, with what each means. */
export const EVENT_MEANINGS = {
  CONTACT_CREATED: 'A contact was created',
  CONTACT_UPDATED: 'A contact was updated',
  CONTACT_UNSUBSCRIBED: 'A contact unsubscribed',
  CONTACT_RESUBSCRIBED: 'A contact resubscribed',
  CONTACT_DELETED: 'A contact was deleted',
  WORKSPACE_TEAM_MEMBER_JOINED: 'A team member joined the workspace',
  EMAIL_SENT: 'The relay took an email',
  EMAIL_DELIVERED: 'The receiving server took an email',
  EMAIL_DELAYED: 'An email was refused for now and will be tried again',
  EMAIL_BOUNCED: 'The receiving side refused an email for good',
  EMAIL_COMPLAINED: 'The recipient reported an email',
  EMAIL_FAILED: 'An email was given up',
  EMAIL_OPENED: 'An email was opened',
  EMAIL_CLICKED: 'A link of an email was clicked',
} as const;

export type EventName = keyof typeof EVENT_MEANINGS;

/** The names of the events, in the order of the documents. */
export const EVENT_NAMES = Object.keys(EVENT_MEANINGS) as EventName[];

/** Whether `text` is the name of an event. */
export function isEventName(text: string): text is EventName {
  return Object.hasOwn(EVENT_MEANINGS, text);
}

/** The body that is posted about an event: made once, signed and sent byte for byte as it is. */
export function eventPayload(event: EventName, createdAt: Date, data: JsonObject): string {
  return JSON.stringify({ event, createdAt: createdAt.toISOString(), data });
}

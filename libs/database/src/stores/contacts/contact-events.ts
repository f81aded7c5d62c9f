import { type Contact, contactEventData, type EventName, type JsonObject } from '@posthorn/domain';
import type { NewEvent } from '../events/record-events.ts';

/** The events of a contact other than an update. */
type ContactEventName = Exclude<Extract<EventName, `CONTACT_${string}`>, 'CONTACT_UPDATED'>;

/** The payload of a contact event for webhooks. */
export function contactEvent(name: ContactEventName, contact: Contact): NewEvent {
  return { workspaceId: contact.workspaceId, name, data: contactEventData(contact) };
}

/** The payload of an update; `changes`: the changed keys with their new values, null for a removed key. */
export function contactUpdatedEvent(contact: Contact, changes: JsonObject): NewEvent {
  const data = { ...contactEventData(contact), changes };
  return { workspaceId: contact.workspaceId, name: 'CONTACT_UPDATED', data };
}

/** The names of a contact's status changes, for webhooks and in the audit log. */
export const CONTACT_STATUS_CHANGES = {
  SUBSCRIBED: { event: 'CONTACT_RESUBSCRIBED', action: 'contact.resubscribed' },
  UNSUBSCRIBED: { event: 'CONTACT_UNSUBSCRIBED', action: 'contact.unsubscribed' },
} as const;

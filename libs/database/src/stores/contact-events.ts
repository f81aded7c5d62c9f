import { type Contact, contactEventData, type EventName, type JsonObject } from '@posthorn/domain';
import type { NewEvent } from '../events.ts';

/** What happens to a contact beside an update. */
type ContactEventName = Exclude<Extract<EventName, `CONTACT_${string}`>, 'CONTACT_UPDATED'>;

/** What webhooks are told of a contact. */
export function contactEvent(name: ContactEventName, contact: Contact): NewEvent {
  return { workspaceId: contact.workspaceId, name, data: contactEventData(contact) };
}

/** What they are told of one that was updated; `changes`: the keys that changed with their new values, null for one that is gone. */
export function contactUpdatedEvent(contact: Contact, changes: JsonObject): NewEvent {
  const data = { ...contactEventData(contact), changes };
  return { workspaceId: contact.workspaceId, name: 'CONTACT_UPDATED', data };
}

/** What a contact's new status is told as, to webhooks and in the audit log. */
export const CONTACT_STATUS_CHANGES = {
  SUBSCRIBED: { event: 'CONTACT_RESUBSCRIBED', action: 'contact.resubscribed' },
  UNSUBSCRIBED: { event: 'CONTACT_UNSUBSCRIBED', action: 'contact.unsubscribed' },
} as const;

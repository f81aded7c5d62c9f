import { type Contact, contactEventData, type EventName, type JsonObject } from '@posthorn/domain';
import { type NewEvent } from '../events.ts';

/** What webhooks are told of a contact; `changes` when it was updated: the keys that changed, null for one that is gone. */
export function contactEvent(
  name: Extract<EventName, `CONTACT_${string}`>,
  contact: Contact,
  changes?: JsonObject,
): NewEvent {
  return { workspaceId: contact.workspaceId, name, data: contactEventData(contact, changes) };
}

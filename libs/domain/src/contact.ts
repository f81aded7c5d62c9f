import type { ContactId, WorkspaceId } from '@posthorn/kernel';
import type { JsonObject } from './canonical-json.ts';
import type { EventDataOf } from './events/events.ts';

/** The statuses of a contact, with their meanings. */
export const CONTACT_STATUSES = {
  SUBSCRIBED: 'gets every email',
  UNSUBSCRIBED: 'gets only emails without an unsubscribe link',
} as const;

export type ContactStatus = keyof typeof CONTACT_STATUSES;

/** A person that a workspace sends emails to. */
export interface Contact {
  readonly id: ContactId;
  readonly workspaceId: WorkspaceId;
  /** The address as it was first given; no two contacts of a workspace have addresses that differ only in case. */
  readonly email: string;
  readonly properties: JsonObject;
  readonly status: ContactStatus;
  readonly unsubscribedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The data of events about a contact. */
export function contactEventData(contact: Contact): EventDataOf<'CONTACT_CREATED'> {
  const { id, workspaceId, email, properties, createdAt } = contact;
  return { contact: { id, email, properties, createdAt: createdAt.toISOString(), workspaceId } };
}

/** A contact with another status, since `now`; the same contact when it has that status already. */
export function withStatus(contact: Contact, status: ContactStatus, now: Date): Contact {
  if (contact.status === status) return contact;
  return { ...contact, status, unsubscribedAt: status === 'UNSUBSCRIBED' ? now : null, updatedAt: now };
}

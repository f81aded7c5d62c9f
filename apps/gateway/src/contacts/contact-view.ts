import type { Contact } from '@posthorn/domain';
import type { Contact as ShownContact } from './contact.answers.ts';

/** The API representation of a contact. */
export function contactView(contact: Contact): ShownContact {
  const { id, email, properties, status, unsubscribedAt, createdAt, updatedAt } = contact;
  return { id, email, properties, status, unsubscribedAt, createdAt, updatedAt };
}

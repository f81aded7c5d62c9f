import { type Invitation as StoredInvitation, invitationStatus } from '@posthorn/domain';
import type { Invitation } from './member.answers.ts';

/** The API representation of an invitation at the time `now`. */
export function invitationView(invitation: StoredInvitation, now: Date): Invitation {
  const { id, email, name, role, createdAt, expiresAt, acceptedAt, revokedAt } = invitation;
  const status = invitationStatus(invitation, now);
  return { id, email, name, role, status, createdAt, expiresAt, acceptedAt, revokedAt };
}

import type { InvitationId, WorkspaceId } from '@posthorn/kernel';
import type { Role } from '../roles.ts';

const DAY_SECONDS = 24 * 60 * 60;

/** The statuses of an invitation, with their meanings and what can follow. */
export const INVITATION_STATUSES = {
  OPEN: 'waits for the person to open the link',
  EXPIRED: 'was not accepted in time; another mail makes it open again',
  ACCEPTED: 'the person has become a member; the link does nothing any more',
  REVOKED: 'was taken back, or a newer one took its place; the link does nothing any more',
} as const;

export type InvitationStatus = keyof typeof INVITATION_STATUSES;

/** How long an invitation link is valid. */
export const INVITATION_DAYS = 7;

/** How long an invitation is kept after its last link has expired. */
export const INVITATION_KEPT_DAYS = 90;

/** When a link that is sent at the time `now` expires. */
export function invitationEnd(now: Date): Date {
  return new Date(now.getTime() + INVITATION_DAYS * DAY_SECONDS * 1_000);
}

/** The times from which the status of an invitation is derived. */
interface InvitationTimes {
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** An invitation of a person to a workspace. */
export interface Invitation extends InvitationTimes {
  readonly id: InvitationId;
  readonly workspaceId: WorkspaceId;
  readonly email: string;
  /** The name of the person, as given by the inviter. */
  readonly name: string | null;
  readonly role: Role;
  readonly createdAt: Date;
}

/** The status of an invitation at the time `now`. */
export function invitationStatus(
  { expiresAt, acceptedAt, revokedAt }: InvitationTimes,
  now: Date,
): InvitationStatus {
  if (acceptedAt !== null) return 'ACCEPTED';
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt > now ? 'OPEN' : 'EXPIRED';
}

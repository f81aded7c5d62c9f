import type { InvitationId, WorkspaceId } from '@posthorn/kernel';
import type { Role } from '../roles.ts';

const DAY_SECONDS = 24 * 60 * 60;

/** What an invitation can be, and what happens next. */
export const INVITATION_STATUSES = {
  OPEN: 'waits for the person to open the link',
  EXPIRED: 'was not accepted in time; another mail makes it open again',
  ACCEPTED: 'the person has become a member; the link does nothing any more',
  REVOKED: 'was taken back, or a newer one took its place; the link does nothing any more',
} as const;

export type InvitationStatus = keyof typeof INVITATION_STATUSES;

/** Their names, in the order of an invitation's life. */
export const INVITATION_STATUS_NAMES = Object.keys(INVITATION_STATUSES) as InvitationStatus[];

/** How long the link of a mail can be used. */
export const INVITATION_DAYS = 7;

/** How long an invitation is kept after its last link has ended. */
export const INVITATION_KEPT_DAYS = 90;

/** When the link of a mail ends that is sent at the time `now`. */
export function invitationEnd(now: Date): Date {
  return new Date(now.getTime() + INVITATION_DAYS * DAY_SECONDS * 1_000);
}

/** What the status of an invitation follows from. */
interface InvitationTimes {
  readonly expiresAt: Date;
  readonly acceptedAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Somebody is asked to become a member of a workspace. */
export interface Invitation extends InvitationTimes {
  readonly id: InvitationId;
  readonly workspaceId: WorkspaceId;
  readonly email: string;
  /** What the one who invites knows the person as. */
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

import { idFromUuid } from '@posthorn/kernel';
import type { Invitation } from '@posthorn/domain';
import type { Invitation as InvitationRow } from '../../generated/client.ts';

/** Converts a row to an invitation. */
export function invitationOf(row: InvitationRow): Invitation {
  const { email, name, role, createdAt, expiresAt, acceptedAt, revokedAt } = row;
  return {
    id: idFromUuid('inv', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    email,
    name,
    role,
    createdAt,
    expiresAt,
    acceptedAt,
    revokedAt,
  };
}

import type { UserId, WorkspaceId } from '@posthorn/kernel';
import type { EventDataOf } from '../events/events.ts';
import { SIZES } from '../limits.ts';
import type { Role } from '../roles.ts';

/** A member of a workspace. */
export interface Member {
  readonly id: UserId;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  /** When the person joined. */
  readonly createdAt: Date;
}

/** The data of the event about a member who joined. */
export function memberJoinedData(
  workspace: { readonly id: WorkspaceId; readonly name: string },
  { id, email, name }: Pick<Member, 'id' | 'email' | 'name'>,
): EventDataOf<'WORKSPACE_TEAM_MEMBER_JOINED'> {
  return { workspace: { id: workspace.id, name: workspace.name }, user: { id, email, name } };
}

/** The name of a person who was invited without one: the local part of the address. */
export function nameFromAddress(email: string): string {
  return [...email.slice(0, email.lastIndexOf('@'))].slice(0, SIZES.personName.max).join('');
}

import type { Provider } from '@nestjs/common';
import {
  type Database,
  InvitationChanges,
  InvitationLinkStore,
  InvitationStore,
  MemberStore,
  WorkspaceStore,
} from '@posthorn/database';
import { providersOf } from '@posthorn/platform';
import {
  INVITATION_LINK,
  InviteMember,
  JoinWorkspace,
  SendLink,
  type SubmitPendingMails,
} from '@posthorn/use-cases';

export interface MemberParts {
  readonly database: Database;
  readonly publicUrl: string;
}

/** The providers of the routes of members and invitations. */
export function memberProviders(
  { database, publicUrl }: MemberParts,
  pendingMails: SubmitPendingMails,
): Provider[] {
  const { clock } = database;
  const invitations = new InvitationStore(database);
  const changes = new InvitationChanges(database);
  const workspaces = new WorkspaceStore(database);
  const links = new SendLink(INVITATION_LINK, { pendingMails, workspaces, clock, publicUrl });
  return providersOf(
    new MemberStore(database),
    invitations,
    changes,
    new InviteMember({ invitations, changes, links, clock }),
    new JoinWorkspace(new InvitationLinkStore(database), clock),
  );
}

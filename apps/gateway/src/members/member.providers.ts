import { type Provider } from '@nestjs/common';
import { DatabaseClock } from '@posthorn/kernel';
import {
  type Database,
  InvitationChanges,
  InvitationMailStore,
  InvitationStore,
  MemberStore,
  WorkspaceStore,
} from '@posthorn/database';
import { type SecretBox } from '@posthorn/signing';
import { InviteMember, JoinWorkspace, SendInvitationMails, type SendSystemMail } from '@posthorn/use-cases';
import { OwedMails } from './owed-mails.ts';

export interface MemberParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly publicUrl: string;
  readonly onError: (error: unknown) => void;
}

/** What the routes about members and invitations need. */
export function memberProviders(parts: MemberParts, systemMail: SendSystemMail): Provider[] {
  const { database, secretBox, publicUrl, onError } = parts;
  const { clock } = database;
  const invitations = new InvitationStore(database);
  const changes = new InvitationChanges(database);
  const workspaces = new WorkspaceStore(database);
  const mails = new SendInvitationMails({
    ...{ systemMail, secretBox, clock, publicUrl, onError },
    mails: new InvitationMailStore(database),
  });
  return [
    { provide: DatabaseClock, useValue: clock },
    { provide: MemberStore, useValue: new MemberStore(database) },
    { provide: InvitationStore, useValue: invitations },
    { provide: InvitationChanges, useValue: changes },
    { provide: InviteMember, useValue: new InviteMember({ invitations, changes, workspaces, mails, clock }) },
    { provide: JoinWorkspace, useValue: new JoinWorkspace(database) },
    { provide: OwedMails, useValue: new OwedMails(mails, onError) },
  ];
}

import { randomBytes } from 'node:crypto';
import { newId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Invitation, type Member, operator, type Role } from '@posthorn/domain';
import type { TestStores } from '../../test-stores.fixture.ts';
import { InvitationChanges, type InvitationRefusal } from './invitation-changes.ts';
import { InvitationLinkStore, type LinkedInvitation } from './invitation-link-store.ts';
import { MemberStore } from './member-store.ts';
import type { LinkMail } from '../pending-mail-store.ts';

/** As whom these tests appear in the audit log. */
export const TESTS = operator('tests');

/** A mail with a link of its own. */
export function newMail(): LinkMail {
  return { id: newUuid(Date.now()), sealedMail: randomBytes(40), tokenHash: randomBytes(32) };
}

/** Somebody invited, with what is in the link. */
export interface Invited {
  readonly invitation: Invitation;
  readonly tokenHash: Buffer;
}

/** What tests about members ask again and again. */
export class MemberTestStores {
  readonly changes: InvitationChanges;
  readonly members: MemberStore;
  private readonly links: InvitationLinkStore;

  constructor(readonly stores: TestStores) {
    this.changes = new InvitationChanges(stores.database);
    this.links = new InvitationLinkStore(stores.database);
    this.members = new MemberStore(stores.database);
  }

  create(
    workspaceId: WorkspaceId,
    email: string,
    role: Role = 'EDITOR',
    mail = newMail(),
  ): Promise<Invitation | InvitationRefusal> {
    const wanted = { id: newId('inv', Date.now()), email, name: null, role };
    return this.changes.create(workspaceId, TESTS, wanted, mail);
  }

  async invite(workspaceId: WorkspaceId, email: string, role: Role = 'EDITOR'): Promise<Invited> {
    const mail = newMail();
    const invitation = await this.create(workspaceId, email, role, mail);
    if ('refused' in invitation) throw new Error(JSON.stringify(invitation));
    return { invitation, tokenHash: mail.tokenHash };
  }

  accept(tokenHash: Buffer): Promise<LinkedInvitation | undefined> {
    return this.links.accept(tokenHash);
  }

  async join(workspaceId: WorkspaceId, email: string, role: Role = 'EDITOR'): Promise<Member> {
    const { tokenHash } = await this.invite(workspaceId, email, role);
    await this.accept(tokenHash);
    return (await this.membersOf(workspaceId)).find((member) => member.email === email)!;
  }

  async membersOf(workspaceId: WorkspaceId): Promise<readonly Member[]> {
    return (await this.members.list(workspaceId, { limit: 100, sort: 'createdAt.asc' })).items;
  }

  /** The links of an invitation end an hour ago. */
  async letExpire({ id }: Invitation): Promise<void> {
    await this.stores.ask(
      `UPDATE invitations SET created_at = now() - interval '8 days', expires_at = now() - interval '1 hour' WHERE id = $1`,
      [uuidOf(id)],
    );
  }

  /** How many there are of each thing that a change of members writes. */
  async traces(workspaceId: WorkspaceId): Promise<{ members: number; events: number; audited: string[] }> {
    const where = `workspace_id = '${uuidOf(workspaceId)}'`;
    const rows = await this.stores.ask<{ action: string }>(
      `SELECT action FROM audit_log WHERE ${where} AND action LIKE 'member.%' ORDER BY id`,
    );
    return {
      members: await this.stores.count('memberships', where),
      events: await this.stores.count('events', where),
      audited: rows.map(({ action }) => action),
    };
  }

  /** How many mails are pending for this workspace's invitations. */
  pending(workspaceId: WorkspaceId): Promise<number> {
    const where = 'workspace_id = $1 AND sealed_mail IS NOT NULL';
    return this.stores.count('invitation_mails', where, [uuidOf(workspaceId)]);
  }
}

import { idFromUuid, newId, newUuid, uuidOf } from '@posthorn/kernel';
import { type Invitation, invitationStatus, memberJoinedData, nameFromAddress } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { recordEvents } from '../events/record-events.ts';
import type { User } from '../../generated/client.ts';
import { KEEP_USER } from '../../sql/members.ts';
import { awaitStandby } from '../../transactions/await-standby.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { lockInvitation } from './invitation-changes.ts';
import { dropPendingMails } from './invitation-mails.ts';
import { invitationOf } from './invitation-row.ts';

type Person = Pick<User, 'id' | 'email' | 'name'>;

/** An invitation with the name of its workspace. */
export interface LinkedInvitation extends Invitation {
  readonly workspaceName: string;
}

/** The links in mails that invite people. */
export class InvitationLinkStore {
  constructor(private readonly database: Database) {}

  /** The invitation with this link: whoever has the link may see it. Changes nothing. Index: invitations_token_hash_key. */
  async find(tokenHash: Buffer): Promise<LinkedInvitation | undefined> {
    const row = await this.database.prisma.invitation.findFirst({
      where: { tokenHash: new Uint8Array(tokenHash) },
      include: { workspace: { select: { name: true } } },
    });
    return row === null ? undefined : { ...invitationOf(row), workspaceName: row.workspace.name };
  }

  /**
   * Makes the invited person a member, if the invitation is open: the membership, its event and its audit log entry in one transaction. Of
   * concurrent calls one does it, and the others find it done.
   *
   * @returns the invitation afterwards; undefined when no invitation has this link
   */
  async accept(tokenHash: Buffer): Promise<LinkedInvitation | undefined> {
    const linked = await this.find(tokenHash);
    if (linked === undefined) return undefined;
    const { pool, clock } = this.database;
    const now = clock.now();
    const { workspaceId, id, workspaceName } = linked;
    // Whoever has a link can send any number of requests with it, which must not keep others from changing the workspace.
    if (invitationStatus(linked, now) !== 'OPEN') {
      await awaitStandby(pool);
      return linked;
    }
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      // It may have been sent again, with another link, before it was locked.
      const before = await lockInvitation(transaction, workspaceId, id, tokenHash);
      if (before === undefined) return undefined;
      if (invitationStatus(before, now) !== 'OPEN') return { ...before, workspaceName };
      await join(transaction, now, { ...before, workspaceName });
      return { ...before, workspaceName, acceptedAt: now };
    });
  }
}

async function join(transaction: Transaction, now: Date, invitation: LinkedInvitation): Promise<void> {
  const { id, workspaceId, workspaceName, role } = invitation;
  const person = await keepPerson(transaction, now, invitation);
  const userId = idFromUuid('usr', person.id);
  const ids = { id: newUuid(now.getTime()), workspaceId: uuidOf(workspaceId), userId: person.id };
  await transaction.membership.create({ data: { ...ids, role, createdAt: now } });
  await transaction.invitation.update({ where: { id: uuidOf(id) }, data: { acceptedAt: now } });
  await dropPendingMails(transaction, id);
  await recordEvents(transaction, now.getTime(), [
    {
      workspaceId,
      name: 'WORKSPACE_TEAM_MEMBER_JOINED',
      data: memberJoinedData({ id: workspaceId, name: workspaceName }, { ...person, id: userId }),
    },
  ]);
  await recordAudit(transaction, now.getTime(), {
    workspaceId,
    action: 'member.joined',
    actor: { kind: 'user', id: userId, name: person.name },
    subjectId: userId,
    detail: { email: person.email, role, invitationId: id },
  });
}

/** The person with the address of an invitation, who may already be a member elsewhere. */
async function keepPerson(transaction: Transaction, now: Date, { email, name }: Invitation): Promise<Person> {
  const id = uuidOf(newId('usr', now.getTime()));
  const values = [id, email, name ?? nameFromAddress(email), now];
  const [person] = await transaction.$queryRawUnsafe<Person[]>(KEEP_USER, ...values);
  return person!;
}

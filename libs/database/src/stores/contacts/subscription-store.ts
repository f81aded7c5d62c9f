import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type ContactStatus, RECIPIENT } from '@posthorn/domain';
import type pg from 'pg';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { FORGET_OPT_OUT } from '../../sql/contacts.ts';
import { READ_SUBSCRIPTION } from '../../sql/subscriptions.ts';
import { type TransactionClient, transactOn } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { CONTACT_STATUS_CHANGES } from './contact-events.ts';
import { upsertContacts } from './contact-writes.ts';

/** Whether the recipient of an email is subscribed to further ones of its kind. */
export interface Subscription {
  readonly workspaceName: string;
  readonly email: string;
  readonly status: ContactStatus;
}

interface SubscriptionRow extends Subscription {
  readonly workspaceId: string;
  /** Null: the recipient is not a contact. */
  readonly contactId: string | null;
}

/** Changes by recipients through the links in their emails. Undefined for an email that was removed, or that has no such link. */
export class SubscriptionStore {
  constructor(private readonly database: Database) {}

  async find(emailId: EmailId): Promise<Subscription | undefined> {
    const row = await read(this.database.pool, emailId);
    return row && shown(row, row.status);
  }

  /**
   * Unsubscribes or resubscribes the recipient, in a transaction with its event and its audit log entry. A recipient who unsubscribes and
   * is not a contact becomes one. Idempotent.
   *
   * @throws Refusal (503) when too many changes of the contact wait in this process
   */
  async setStatus(emailId: EmailId, status: ContactStatus): Promise<Subscription | undefined> {
    const known = await read(this.database.pool, emailId);
    if (known === undefined) return undefined;
    const subject = known.contactId === null ? emailId : idFromUuid('ctc', known.contactId);
    return this.database.changes.run(subject, () => this.setInTransaction(emailId, status));
  }

  private setInTransaction(emailId: EmailId, status: ContactStatus): Promise<Subscription | undefined> {
    return transactOn(this.database, async (client) => {
      const row = await read(client, emailId);
      if (row === undefined) return undefined;
      if (row.status === status) await awaitStandby(client);
      else await this.change(client, emailId, row, status);
      return shown(row, status);
    });
  }

  /** The contact may be changed concurrently: what counts is its status once it is locked. What is remembered of a deleted contact is forgotten afterwards, so that this counts as a change. */
  private async change(
    client: TransactionClient,
    emailId: EmailId,
    row: SubscriptionRow,
    status: ContactStatus,
  ): Promise<void> {
    const nowMs = this.database.clock.nowMs();
    const workspaceId: WorkspaceId = idFromUuid('wrk', row.workspaceId);
    const upsert = { workspaceId, email: row.email, properties: {}, status };
    const { contact, hasNewStatus } = (await upsertContacts(client, nowMs, [upsert]))[0]!;
    if (status === 'SUBSCRIBED') await client.query(FORGET_OPT_OUT, [row.workspaceId, row.email]);
    if (!hasNewStatus) return;
    await recordAudit(client, nowMs, {
      workspaceId,
      action: CONTACT_STATUS_CHANGES[status].action,
      actor: RECIPIENT,
      subjectId: contact.id,
      detail: { emailId },
    });
  }
}

async function read(
  client: Pick<pg.ClientBase, 'query'>,
  emailId: EmailId,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await client.query<SubscriptionRow>(READ_SUBSCRIPTION, [uuidOf(emailId)]);
  return rows[0];
}

function shown({ workspaceName, email }: SubscriptionRow, status: ContactStatus): Subscription {
  return { workspaceName, email, status };
}

import { type ContactId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Contact, type Page, pageOf, type PageRequest } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { type ContactFilter, listContacts, READ_CONTACT } from '../../sql/contacts.ts';
import { limitLockWaits, transactOn } from '../../transactions/transaction.ts';
import { contactOf, type ContactRow } from './contact-row.ts';
import { type ContactUpsert, type ContactWrite, upsertContacts } from './contact-writes.ts';

/** Reads the contacts of workspaces, and creates or updates many at once; see `ContactChanges` for changes of one. */
export class ContactStore {
  constructor(private readonly database: Database) {}

  /** A page of a workspace's contacts, in order of creation. */
  async list(
    workspaceId: WorkspaceId,
    page: PageRequest<ContactId>,
    filter: ContactFilter,
  ): Promise<Page<Contact>> {
    const { rows } = await this.database.pool.query<ContactRow>(listContacts(workspaceId, page, filter));
    return pageOf(rows.map(contactOf), page.limit);
  }

  /** The contact, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: ContactId): Promise<Contact | undefined> {
    const { rows } = await this.database.pool.query<ContactRow>(READ_CONTACT, [
      uuidOf(id),
      uuidOf(workspaceId),
    ]);
    return rows[0] && contactOf(rows[0]);
  }

  /**
   * Creates and updates contacts of any workspaces in one transaction, with the resulting events; the number of statements does not grow
   * with them. Idempotent.
   *
   * @param lockTimeoutMs how long to wait for each locked contact; default: as long as any statement may
   * @returns the result of each upsert, in their order
   * @throws what `pg` throws; see `faultOf` for what it means for the group
   */
  upsert(upserts: readonly ContactUpsert[], lockTimeoutMs?: number): Promise<ContactWrite[]> {
    const { clock } = this.database;
    return transactOn(this.database, async (client) => {
      if (lockTimeoutMs !== undefined) limitLockWaits(client, lockTimeoutMs);
      return upsertContacts(client, clock.nowMs(), upserts);
    });
  }
}

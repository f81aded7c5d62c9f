import { type ContactId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  type AuditedAction,
  changesBetween,
  type Contact,
  type ContactStatus,
  type ExceededSize,
  type JsonObject,
  mergeProperties,
  withStatus,
} from '@posthorn/domain';
import type pg from 'pg';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { eventsAsJson, type NewEvent, runWithEvents } from '../events/record-events.ts';
import { DELETE_CONTACT, FORGET_OPT_OUT, LOCK_CONTACT } from '../../sql/contacts.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { CONTACT_STATUS_CHANGES, contactEvent, contactUpdatedEvent } from './contact-events.ts';
import { contactOf, type ContactRow } from './contact-row.ts';
import { writeContacts } from './contact-writes.ts';

/** The context of a change of one contact: the connection of its transaction, and the database's time in it. */
interface ChangeContext {
  readonly client: pg.ClientBase;
  readonly nowMs: number;
  readonly actor: Actor;
}

/**
 * Changes of one contact on request: each in a transaction with its event and its audit log entry. A change without effect writes nothing.
 * For an id that the workspace does not have, methods return undefined.
 */
export class ContactChanges {
  constructor(private readonly database: Database) {}

  /**
   * Merges properties into those of the contact: see {@link mergeProperties}.
   *
   * @returns the contact afterwards; or the size that its properties would exceed
   */
  update(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: ContactId,
    given: JsonObject,
  ): Promise<Contact | { readonly exceeded: ExceededSize } | undefined> {
    return this.change(workspaceId, actor, id, async (before, context) => {
      const merged = mergeProperties(before.properties, given);
      if ('exceeded' in merged) return merged;
      const changes = changesBetween(before.properties, merged.properties);
      if (changes === undefined) return before;
      const after = { ...before, properties: merged.properties, updatedAt: new Date(context.nowMs) };
      await write(context, after, contactUpdatedEvent(after, changes));
      // Only the keys: personal data must not outlive the contact.
      await audit(context, 'contact.updated', after, { properties: Object.keys(changes).sort() });
      return after;
    });
  }

  /** Unsubscribes or resubscribes the contact. */
  setStatus(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: ContactId,
    status: ContactStatus,
  ): Promise<Contact | undefined> {
    return this.change(workspaceId, actor, id, async (before, context) => {
      // Even for a contact that is subscribed: what is remembered of an earlier contact withholds emails, too.
      if (status === 'SUBSCRIBED')
        await context.client.query(FORGET_OPT_OUT, [uuidOf(workspaceId), before.email]);
      const after = withStatus(before, status, new Date(context.nowMs));
      if (after === before) return before;
      const { event, action } = CONTACT_STATUS_CHANGES[status];
      await write(context, after, contactEvent(event, after));
      await audit(context, action, after);
      return after;
    });
  }

  /** Deletes the contact and returns it as it was; its emails are kept, and that it had unsubscribed is remembered. */
  delete(workspaceId: WorkspaceId, actor: Actor, id: ContactId): Promise<Contact | undefined> {
    return this.change(workspaceId, actor, id, async (contact, context) => {
      const events = eventsAsJson(context.nowMs, [contactEvent('CONTACT_DELETED', contact)]);
      await runWithEvents(context.client, DELETE_CONTACT, [events, uuidOf(id)]);
      await audit(context, 'contact.deleted', contact);
      return contact;
    });
  }

  /** Locks only this one row, so that no two changes can deadlock. */
  private change<Result>(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: ContactId,
    work: (before: Contact, context: ChangeContext) => Promise<Result>,
  ): Promise<Result | undefined> {
    const { changes, clock } = this.database;
    const inTransaction = async (client: pg.ClientBase): Promise<Result | undefined> => {
      const { rows } = await client.query<ContactRow>(LOCK_CONTACT, [uuidOf(id), uuidOf(workspaceId)]);
      if (rows[0] !== undefined) return work(contactOf(rows[0]), { client, nowMs: clock.nowMs(), actor });
      await awaitStandby(client);
      return undefined;
    };
    return changes.run(id, () => transactOn(this.database, inTransaction));
  }
}

function write({ client, nowMs }: ChangeContext, after: Contact, event: NewEvent): Promise<void> {
  return writeContacts(client, nowMs, [after], [event]);
}

function audit(
  { client, nowMs, actor }: ChangeContext,
  action: Extract<AuditedAction, `contact.${string}`>,
  { workspaceId, id: subjectId }: Contact,
  detail: JsonObject = {},
): Promise<void> {
  return recordAudit(client, nowMs, { workspaceId, action, actor, subjectId, detail });
}

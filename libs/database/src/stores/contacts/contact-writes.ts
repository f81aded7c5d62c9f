import { newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  changesBetween,
  type Contact,
  type ContactStatus,
  type ExceededSize,
  type JsonObject,
  mergeProperties,
  withStatus,
} from '@posthorn/domain';
import type pg from 'pg';
import { eventsAsJson, type NewEvent, runWithEvents } from '../events/record-events.ts';
import { LOCK_CONTACTS, READ_LOCKED_CONTACTS, WRITE_CONTACTS } from '../../sql/contacts.ts';
import type { TransactionClient } from '../../transactions/transaction.ts';
import { CONTACT_STATUS_CHANGES, contactEvent, contactUpdatedEvent } from './contact-events.ts';
import { contactOf, type ContactRow } from './contact-row.ts';

/** The data to store for the contact with an address; it is created if there is none. */
export interface ContactUpsert {
  readonly workspaceId: WorkspaceId;
  readonly email: string;
  /** Replaces the given keys, removes those given as null, and keeps the others. Already validated against the size limits. */
  readonly properties: JsonObject;
  /** Absent: the contact keeps its status; a new one is subscribed, unless its person had unsubscribed before an earlier contact was deleted. */
  readonly status?: ContactStatus | undefined;
}

/** The outcome of an upsert. */
export interface ContactWrite {
  /** As it is after all upserts of the call. */
  readonly contact: Contact;
  readonly isCreated: boolean;
  readonly hasNewStatus: boolean;
  /** The size limit that its properties would have exceeded, so that it stays as earlier upserts of the call left it; absent: none. */
  readonly exceeded?: ExceededSize;
}

/** A row of READ_LOCKED_CONTACTS. */
type LockedContactRow = ContactRow & {
  readonly numbers: number[];
  readonly isNew: boolean;
  readonly hasOptedOut: boolean;
};

/** A locked contact, and what it has after the upserts. */
interface Change {
  readonly before: Contact;
  readonly isNew: boolean;
  readonly numbers: readonly number[];
  properties: JsonObject;
  status: ContactStatus;
}

/**
 * Creates and updates contacts in a transaction of the caller (READ COMMITTED), with three statements for any number of contacts.
 * The upserts of one contact apply in their order; together they cause one event for its properties and one for its status, or none if nothing
 * has changed in the end.
 *
 * @param nowMs the database's time
 * @returns the outcome of each upsert, in the same order
 */
export async function upsertContacts(
  client: TransactionClient,
  nowMs: number,
  upserts: readonly ContactUpsert[],
): Promise<ContactWrite[]> {
  if (upserts.length === 0) return [];
  const changes = await lockContacts(client, nowMs, upserts);
  const outcomes = changes.map((change) => applyUpserts(change, upserts));
  const contacts = await writeChanges(client, nowMs, changes);
  const writes = new Array<ContactWrite>(upserts.length);
  for (const [index, { numbers }] of changes.entries()) {
    for (const [at, n] of numbers.entries())
      writes[n] = { ...outcomes[index]![at]!, contact: contacts[index]! };
  }
  return writes;
}

async function lockContacts(
  client: TransactionClient,
  nowMs: number,
  upserts: readonly ContactUpsert[],
): Promise<Change[]> {
  const items = upserts.map(({ workspaceId, email, properties }, n) => {
    const merged = mergeProperties({}, properties);
    return {
      n,
      id: newUuid(nowMs),
      workspace_id: uuidOf(workspaceId),
      email,
      properties: 'properties' in merged ? merged.properties : {},
    };
  });
  client.pipelineWithNext({
    name: 'lock_contacts',
    text: LOCK_CONTACTS,
    values: [JSON.stringify(items), new Date(nowMs).toISOString()],
  });
  const addresses = items.map(({ n, id, workspace_id, email }) => ({ n, id, workspace_id, email }));
  const { rows } = await client.query<LockedContactRow>({
    name: 'read_locked_contacts',
    text: READ_LOCKED_CONTACTS,
    values: [JSON.stringify(addresses)],
  });
  return rows.map((row) => {
    const before = contactOf(row);
    const status = row.hasOptedOut ? 'UNSUBSCRIBED' : before.status;
    return { before, isNew: row.isNew, numbers: row.numbers, properties: before.properties, status };
  });
}

/** Applies the upserts of one contact. @returns the outcome of each */
function applyUpserts(change: Change, upserts: readonly ContactUpsert[]): Omit<ContactWrite, 'contact'>[] {
  return change.numbers.map((n, index) => {
    const { properties, status = change.status } = upserts[n]!;
    const merged = mergeProperties(change.properties, properties);
    if ('exceeded' in merged) return { isCreated: false, hasNewStatus: false, exceeded: merged.exceeded };
    const hasNewStatus = status !== change.status;
    change.properties = merged.properties;
    change.status = status;
    return { isCreated: change.isNew && index === 0, hasNewStatus };
  });
}

/** Writes the changed contacts with their events. @returns all contacts in their new state */
async function writeChanges(
  client: TransactionClient,
  nowMs: number,
  changes: readonly Change[],
): Promise<Contact[]> {
  const [events, written]: [NewEvent[], Contact[]] = [[], []];
  const now = new Date(nowMs);
  const contacts = changes.map(({ before, isNew, properties, status }) => {
    const changed = changesBetween(before.properties, properties);
    const merged = changed === undefined ? before : { ...before, properties, updatedAt: now };
    const contact = withStatus(merged, status, now);
    if (contact !== before) written.push(contact);
    if (isNew) events.push(contactEvent('CONTACT_CREATED', contact));
    else if (changed !== undefined) events.push(contactUpdatedEvent(contact, changed));
    if (contact !== merged) events.push(contactEvent(CONTACT_STATUS_CHANGES[status].event, contact));
    return contact;
  });
  if (events.length > 0) await writeContacts(client, nowMs, written, events);
  return contacts;
}

/** Writes the new state of locked contacts, with their events. `nowMs` is the database's time. */
export async function writeContacts(
  client: pg.ClientBase,
  nowMs: number,
  contacts: readonly Contact[],
  events: readonly NewEvent[],
): Promise<void> {
  const rows = contacts.map(({ id, properties, status, unsubscribedAt, updatedAt }) => ({
    id: uuidOf(id),
    properties,
    status,
    unsubscribed_at: unsubscribedAt,
    updated_at: updatedAt,
  }));
  await runWithEvents(client, WRITE_CONTACTS, [eventsAsJson(nowMs, events), JSON.stringify(rows)]);
}

import { type ContactId, type ErrorBody, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, Contact, JsonObject } from '@posthorn/domain';
import type { ContactChanges, ContactStore, ContactWrite, ExceededSize } from '@posthorn/database';
import { UpsertContacts } from './upsert-contacts.ts';

interface SaveContactsOptions {
  readonly contacts: Pick<ContactStore, 'upsert'>;
  readonly changes: Pick<ContactChanges, 'update'>;
  /** The error body that a refused item of a batch is shown with. */
  readonly errorBodyOf: (refusal: Refusal) => ErrorBody;
}

/** What a caller wants to be kept of the contact with an address; its form is judged. */
export interface WantedContact {
  readonly email: string;
  /** The keys given replace, those given as null are removed, the others stay. */
  readonly properties: JsonObject;
}

/** An item of a batch: what is wanted, or what is wrong with its shape. */
export interface ContactBatchItem {
  readonly wanted: WantedContact | Refusal;
  /** The address as the caller wrote it; null when there is none that can be shown. */
  readonly email: string | null;
}

/** What became of the items of a batch, each list in their order. */
interface ContactBatchOutcome {
  readonly successful: Contact[];
  readonly failed: { readonly index: number; readonly email: string | null; readonly error: ErrorBody }[];
}

/** Saves what keys of a workspace want to be kept of its contacts, and says why where that is too much. */
export class SaveContacts {
  private readonly upserts: UpsertContacts;

  constructor(private readonly options: SaveContactsOptions) {
    this.upserts = new UpsertContacts(options.contacts);
  }

  /** Creates or updates the contact with an address. @throws Refusal 400 when its properties would become too large */
  async upsert(
    workspaceId: WorkspaceId,
    wanted: WantedContact,
  ): Promise<{ readonly contact: Contact; readonly isCreated: boolean }> {
    const [write] = await this.upserts.upsert([{ workspaceId, ...wanted }]);
    const refusal = refusalOf(write!);
    if (refusal !== undefined) throw refusal;
    return { contact: write!.contact, isCreated: write!.outcome === 'created' };
  }

  /** Creates or updates several contacts in one transaction; an item that is refused fails no other. */
  async upsertBatch(
    workspaceId: WorkspaceId,
    items: readonly ContactBatchItem[],
  ): Promise<ContactBatchOutcome> {
    const sound = items.flatMap(({ wanted }) => (wanted instanceof Refusal ? [] : [wanted]));
    const upserts = sound.map((wanted) => ({ workspaceId, ...wanted }));
    const writes = upserts.length === 0 ? [] : await this.upserts.upsert(upserts);
    return this.outcomeOf(items, writes);
  }

  /**
   * Merges properties into those that a contact has; undefined: the workspace does not have it.
   *
   * @throws Refusal 400 when the contact's properties would become too large
   */
  async update(
    workspaceId: WorkspaceId,
    id: ContactId,
    actor: Actor,
    given: JsonObject,
  ): Promise<Contact | undefined> {
    const updated = await this.options.changes.update(workspaceId, id, actor, given);
    if (updated !== undefined && 'exceeded' in updated) throw propertiesTooLarge(updated.exceeded);
    return updated;
  }

  private outcomeOf(
    items: readonly ContactBatchItem[],
    writes: readonly ContactWrite[],
  ): ContactBatchOutcome {
    const outcome: ContactBatchOutcome = { successful: [], failed: [] };
    let place = 0;
    items.forEach(({ wanted, email }, index) => {
      const write = wanted instanceof Refusal ? undefined : writes[place++]!;
      const refusal = write === undefined ? (wanted as Refusal) : refusalOf(write);
      if (refusal === undefined) outcome.successful.push(write!.contact);
      else outcome.failed.push({ index, email, error: this.options.errorBodyOf(refusal) });
    });
    return outcome;
  }
}

function refusalOf({ exceeded }: ContactWrite): Refusal | undefined {
  return exceeded && propertiesTooLarge(exceeded);
}

/** The properties of a contact would be larger than they may, once the given ones are among them. */
export function propertiesTooLarge({ size, amount }: ExceededSize): Refusal {
  const [max, would] = [size.max, amount].map((number) => number.toLocaleString('en-US'));
  return new Refusal(
    400,
    `\`properties\` would have ${would} ${size.unit} together with what the contact has already, and ${max} are possible; ` +
      'give `null` for the keys that are to go',
  );
}

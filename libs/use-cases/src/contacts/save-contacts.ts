import { type ContactId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, Contact, ExceededSize, JsonObject } from '@posthorn/domain';
import type { ContactChanges, ContactStore, ContactUpsert, ContactWrite } from '@posthorn/database';
import { UpsertContacts } from './upsert-contacts.ts';

interface SaveContactsOptions {
  readonly contacts: Pick<ContactStore, 'upsert'>;
  readonly changes: Pick<ContactChanges, 'update'>;
}

/** The contact that a caller wants to save; already validated. */
export type WantedContact = Omit<ContactUpsert, 'workspaceId'>;

/** Saves contacts of a workspace for its API keys, and explains refusals for properties that are too large. */
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
    const write = (await this.upserts.upsert([{ workspaceId, ...wanted }]))[0]!;
    const refusal = refusalOf(write);
    if (refusal !== undefined) throw refusal;
    return write;
  }

  /**
   * Creates or updates several contacts in one transaction; a refused one does not affect the others.
   *
   * @returns the contact of each as it is afterwards, or its refusal, in their order
   */
  async upsertAll(
    workspaceId: WorkspaceId,
    wanted: readonly WantedContact[],
  ): Promise<(Contact | Refusal)[]> {
    const writes = await this.upserts.upsert(wanted.map((one) => ({ workspaceId, ...one })));
    return writes.map((write) => refusalOf(write) ?? write.contact);
  }

  /**
   * Merges properties into those of a contact.
   *
   * @returns undefined when the workspace does not have the contact
   * @throws Refusal 400 when the contact's properties would become too large
   */
  async update(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: ContactId,
    given: JsonObject,
  ): Promise<Contact | undefined> {
    const updated = await this.options.changes.update(workspaceId, actor, id, given);
    if (updated !== undefined && 'exceeded' in updated) throw propertiesTooLarge(updated.exceeded);
    return updated;
  }
}

function refusalOf({ exceeded }: ContactWrite): Refusal | undefined {
  return exceeded && propertiesTooLarge(exceeded);
}

/** The refusal when merging the given properties would make those of a contact too large. */
export function propertiesTooLarge({ size, amount }: ExceededSize): Refusal {
  const [max, would] = [size.max, amount].map((number) => number.toLocaleString('en-US'));
  return new Refusal(
    400,
    `\`properties\` would have ${would} ${size.unit} together with what the contact has already, and ${max} are allowed; ` +
      'give `null` for the keys that are to go',
  );
}

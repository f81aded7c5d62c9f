import { Body, Controller, Delete, Get, Post, Query } from '@nestjs/common';
import type { ContactId } from '@posthorn/kernel';
import { actorOf, Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { ContactChanges, ContactStore } from '@posthorn/database';
import { type Contact, type ContactStatus, SIZES } from '@posthorn/domain';
import { DisconnectSignal } from '@posthorn/platform';
import { propertiesTooLarge, SaveContacts } from '@posthorn/use-cases';
import { Describes, type Refusals } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { LargeReads } from '../system/large-reads.ts';
import { addressIn } from '../validation/mailbox-rules.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { foundBy, PathId } from '../validation/path-ids.ts';
import {
  ContactAnswer,
  ContactDeletedAnswer,
  ContactsAnswer,
  ContactUpsertedAnswer,
} from './contact.answers.ts';
import {
  ContactsQuery,
  UpdateContactRequest,
  UpsertContactRequest,
  validateUpdate,
  validateUpsert,
} from './contact.requests.ts';
import { contactView } from './contact-view.ts';

const TOO_LARGE: Refusals = {
  'Properties too large': propertiesTooLarge({ size: SIZES.contactPropertyKeys, amount: 101 }),
};

@Controller('v1/contacts')
export class ContactsController {
  constructor(
    private readonly contacts: ContactStore,
    private readonly changes: ContactChanges,
    private readonly saveContacts: SaveContacts,
    private readonly reads: LargeReads,
  ) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listContacts',
    tag: 'Contacts',
    summary: 'List contacts, or find one by its address',
    query: ContactsQuery,
    answer: ContactsAnswer,
  })
  async list(
    @Caller() { workspaceId }: Principal,
    @Query() query: unknown,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<ContactsAnswer> {
    const { email, status, ...page } = validateQuery(ContactsQuery, query);
    const filter = { status, email: email === undefined ? undefined : addressIn(email) };
    const wanted = pageById('ctc', page);
    const list = () => this.contacts.list(workspaceId, wanted, filter);
    const found = await this.reads.run(workspaceId, list, gone);
    return { contacts: { ...found, items: found.items.map(contactView) } };
  }

  @Get(':contact_id')
  @RequiresScope('user')
  @Describes({
    name: 'readContact',
    tag: 'Contacts',
    summary: 'Read one contact',
    answer: ContactAnswer,
  })
  async read(
    @Caller() { workspaceId }: Principal,
    @PathId('contact_id') id: ContactId,
  ): Promise<ContactAnswer> {
    return answerOf(await this.contacts.find(workspaceId, id));
  }

  @Post()
  @RequiresScope('api_user')
  @Describes({
    name: 'upsertContact',
    tag: 'Contacts',
    summary: 'Create or update a contact',
    description:
      'Creates the contact with this address, or updates the existing one; addresses that differ only in case are one contact. Repeating the request changes nothing more.',
    body: UpsertContactRequest,
    answer: ContactUpsertedAnswer,
    refuses: TOO_LARGE,
  })
  async upsert(@Caller() { workspaceId }: Principal, @Body() body: unknown): Promise<ContactUpsertedAnswer> {
    const { contact, isCreated } = await this.saveContacts.upsert(workspaceId, validateUpsert(body));
    return { contact: contactView(contact), isCreated };
  }

  @Post(':contact_id')
  @RequiresScope('api_user')
  @Describes({
    name: 'updateContact',
    tag: 'Contacts',
    summary: 'Change the properties of a contact',
    description: 'An empty body changes nothing. The address of a contact never changes.',
    body: UpdateContactRequest,
    answer: ContactAnswer,
    refuses: TOO_LARGE,
  })
  async update(
    @Caller() caller: Principal,
    @PathId('contact_id') id: ContactId,
    @Body() body: unknown,
  ): Promise<ContactAnswer> {
    const { properties = {} } = validateUpdate(body);
    return answerOf(await this.saveContacts.update(caller.workspaceId, actorOf(caller), id, properties));
  }

  @Post(':contact_id/unsubscribe')
  @RequiresScope('api_user')
  @Describes({
    name: 'unsubscribeContact',
    tag: 'Contacts',
    summary: 'Unsubscribe a contact',
    description: 'Makes the contact `UNSUBSCRIBED`; nothing changes if it already is.',
    answer: ContactAnswer,
    exampleOverrides: {
      'contact.status': 'UNSUBSCRIBED',
      'contact.unsubscribedAt': '2030-01-31T09:30:00.000Z',
    },
  })
  unsubscribe(@Caller() caller: Principal, @PathId('contact_id') id: ContactId): Promise<ContactAnswer> {
    return this.setStatus(caller, id, 'UNSUBSCRIBED');
  }

  @Post(':contact_id/resubscribe')
  @RequiresScope('api_user')
  @Describes({
    name: 'resubscribeContact',
    tag: 'Contacts',
    summary: 'Resubscribe a contact',
    description:
      'Makes the contact `SUBSCRIBED` again; nothing changes if it already is. Only do this for contacts who have asked for it.',
    answer: ContactAnswer,
  })
  resubscribe(@Caller() caller: Principal, @PathId('contact_id') id: ContactId): Promise<ContactAnswer> {
    return this.setStatus(caller, id, 'SUBSCRIBED');
  }

  @Delete(':contact_id')
  @RequiresScope('api_user')
  @Describes({
    name: 'deleteContact',
    tag: 'Contacts',
    summary: 'Delete a contact',
    description: 'Deletes the contact permanently, with its properties and its status. Its emails stay.',
    answer: ContactDeletedAnswer,
  })
  async delete(
    @Caller() caller: Principal,
    @PathId('contact_id') id: ContactId,
  ): Promise<ContactDeletedAnswer> {
    const deleted = await this.changes.delete(caller.workspaceId, actorOf(caller), id);
    return { ...answerOf(deleted), isDeleted: true };
  }

  private async setStatus(caller: Principal, id: ContactId, status: ContactStatus): Promise<ContactAnswer> {
    return answerOf(await this.changes.setStatus(caller.workspaceId, actorOf(caller), id, status));
  }
}

/** @throws Refusal 404 when there is none */
function answerOf(contact: Contact | undefined): ContactAnswer {
  return { contact: contactView(foundBy('contact_id', contact)) };
}

import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { type ContactBatchItem, ManageContacts, type WantedContact } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { addressOfItem, orRefusal } from '../validation/batch.ts';
import { judgeBody } from '../validation/judge-body.ts';
import { addressIn } from '../validation/mailbox-rules.ts';
import { isJsonObject, kindOf } from '../validation/rule.ts';
import { ContactBatchAnswer } from './contact.answers.ts';
import { UpsertContactRequest, UpsertContactsRequest } from './contact.requests.ts';
import { contactView } from './contact-view.ts';

@Controller('v1/contacts/batch')
export class ContactBatchController {
  constructor(private readonly contacts: ManageContacts) {}

  @Post()
  @RequiresScope('api_user')
  @HttpCode(200)
  @Describes({
    name: 'upsertContacts',
    tag: 'Contacts',
    summary: 'Create or update up to 500 contacts',
    description:
      'Each item is judged by itself, those of one contact in their order; all that are sound are written together. Status 200 says that the array was sound; ' +
      'what became of each item stands in the answer: its contact, as it is after the whole batch, in `successful`, or in `failed` with its `index` and the error that it would have been answered with alone. ' +
      'The same batch again changes nothing more.',
    body: UpsertContactsRequest,
    answer: ContactBatchAnswer,
    refuses: [
      {
        status: 400,
        when: 'Too many contacts',
        message:
          '`contacts` has 501 items, 1 more than the 500 that are possible; send the others in another batch',
      },
    ],
  })
  async upsert(@Caller() { workspaceId }: Principal, @Body() body: unknown): Promise<ContactBatchAnswer> {
    const items = judgeBody(UpsertContactsRequest, body).contacts.map(batchItem);
    const { successful, failed } = await this.contacts.upsertBatch(workspaceId, items);
    return { contacts: { successful: successful.map(contactView), failed } };
  }
}

function batchItem(item: unknown): ContactBatchItem {
  return { wanted: orRefusal(() => wantedIn(item)), email: addressOfItem(item, 'email') };
}

function wantedIn(item: unknown): WantedContact {
  if (!isJsonObject(item)) throw new Refusal(400, `The contact is ${kindOf(item)}; give an object`);
  const { email, properties = {} } = judgeBody(UpsertContactRequest, item);
  return { email: addressIn(email), properties };
}

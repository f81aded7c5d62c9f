import { Body, Controller, Post } from '@nestjs/common';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { SaveContacts } from '@posthorn/use-cases';
import { SIZES } from '@posthorn/domain';
import { Describes, refusalBy } from '../openapi/describes.ts';
import { ItemBatches } from '../validation/item-batches.ts';
import { validateBody } from '../validation/validate-body.ts';
import { ContactBatchAnswer } from './contact.answers.ts';
import { UpsertContactsRequest, validateUpsert } from './contact.requests.ts';
import { contactView } from './contact-view.ts';

@Controller('v1/contacts/batch')
export class ContactBatchController {
  constructor(
    private readonly saveContacts: SaveContacts,
    private readonly batches: ItemBatches,
  ) {}

  @Post()
  @RequiresScope('api_user')
  @Describes({
    name: 'upsertContacts',
    tag: 'Contacts',
    summary: `Create or update up to ${SIZES.contactBatch.max} contacts`,
    description:
      'Validates each item on its own, and writes all valid ones in one transaction, those of one contact in their order. Status 200 means that the array itself was valid. ' +
      'The answer has the result of each item: its contact, as it is after the whole batch, is in `successful`, or the item is in `failed`, with its `index` and the error that it would have got if sent alone. ' +
      'Repeating the batch changes nothing more.',
    body: UpsertContactsRequest,
    answer: ContactBatchAnswer,
    refuses: {
      'Too many contacts': refusalBy(() =>
        validateBody(UpsertContactsRequest, { contacts: Array(501).fill({}) }),
      ),
    },
  })
  async upsert(@Caller() { workspaceId }: Principal, @Body() body: unknown): Promise<ContactBatchAnswer> {
    const { contacts } = validateBody(UpsertContactsRequest, body);
    const { successful, failed } = await this.batches.write(contacts, {
      noun: 'contact',
      validate: validateUpsert,
      write: (wanted) => this.saveContacts.upsertAll(workspaceId, wanted),
    });
    return { contacts: { successful: successful.map(contactView), failed } };
  }
}

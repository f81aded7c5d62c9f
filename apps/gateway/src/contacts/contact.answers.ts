import { CONTACT_STATUSES } from '@posthorn/domain';
import { anyObject, idOf, listOf, nullable, objectOf, text, time, bool } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';
import { FailedBatchItem } from '../validation/batch.answers.ts';

/** A person that the workspace writes to. */
export class Contact {
  @AnswerField('The id of the contact.', idOf('ctc'))
  id!: string;

  @AnswerField('The address as it was first given, its domain in lower case and punycode.', text, {
    example: 'ada@example.com',
  })
  email!: string;

  @AnswerField('The properties of the contact.', anyObject, { example: { firstName: 'Ada', plan: 'pro' } })
  properties!: object;

  @AnswerWord('ContactStatus', CONTACT_STATUSES)
  status!: string;

  @AnswerField('Since when the contact is `UNSUBSCRIBED`; `null` if it is not.', nullable(time), {
    example: null,
  })
  unsubscribedAt!: Date | null;

  @AnswerField('When it was created.', time)
  createdAt!: Date;

  @AnswerField('When it was last changed.', time)
  updatedAt!: Date;
}

/** The answer that shows a contact. */
export class ContactAnswer {
  @AnswerField('The contact.', objectOf(Contact))
  contact!: Contact;
}

/** The answer to a contact that is created or updated. */
export class ContactUpsertedAnswer extends ContactAnswer {
  @AnswerField('Whether there was no contact with this address before.', bool)
  isCreated!: boolean;
}

/** The answer to a deletion. */
export class ContactDeletedAnswer extends ContactAnswer {
  @AnswerField('Always `true`.', bool)
  isDeleted!: true;
}

class ContactPage extends pageOf('The contacts of the page.', Contact) {}

/** The answer that lists contacts. */
export class ContactsAnswer {
  @AnswerField('A page of contacts.', objectOf(ContactPage))
  contacts!: ContactPage;
}

/** A contact of a batch that was not accepted. */
class FailedContact extends FailedBatchItem {}

/** What became of the items of a batch. */
class ContactBatchResult {
  @AnswerField('The created and updated contacts, in the order of the request.', listOf(Contact))
  successful!: Contact[];

  @AnswerField('The items that were not accepted, in the order of the request.', listOf(FailedContact))
  failed!: FailedContact[];
}

export class ContactBatchAnswer {
  @AnswerField('The result of each item.', objectOf(ContactBatchResult))
  contacts!: ContactBatchResult;
}

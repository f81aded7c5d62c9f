import { CONTACT_STATUSES } from '@posthorn/domain';
import {
  anyObject,
  count,
  idOf,
  listOf,
  nullable,
  objectOf,
  text,
  time,
  truth,
  wordOf,
} from '../openapi/answer-schemas.ts';
import { ErrorAnswer } from '../openapi/service.answers.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

/** A person that the workspace writes to. */
export class Contact {
  @Shown('The id of the contact.', idOf('ctc'))
  id!: string;

  @Shown('The address as it was first given, its domain in lower case and punycode.', text, {
    example: 'ada@example.com',
  })
  email!: string;

  @Shown('What is known about the contact.', anyObject, { example: { firstName: 'Ada', plan: 'pro' } })
  properties!: object;

  @Shown(
    'Whether the contact gets every email, or only those that do not ask for consent.',
    wordOf(Object.keys(CONTACT_STATUSES)),
  )
  status!: string;

  @Shown('Since when the contact is `UNSUBSCRIBED`; `null` if it is not.', nullable(time), { example: null })
  unsubscribedAt!: Date | null;

  @Shown('When it was created.', time)
  createdAt!: Date;

  @Shown('When it was last changed.', time)
  updatedAt!: Date;
}

/** The answer that shows a contact. */
export class ContactAnswer {
  @Shown('The contact.', objectOf(Contact))
  contact!: Contact;
}

/** The answer to a contact that is created or updated. */
export class ContactUpsertedAnswer extends ContactAnswer {
  @Shown('Whether there was no contact with this address before.', truth)
  isCreated!: boolean;
}

/** The answer to a deletion. */
export class ContactDeletedAnswer extends ContactAnswer {
  @Shown('Always `true`.', truth)
  isDeleted!: true;
}

/** A page of contacts. */
export class ContactPage extends pageOf('The contacts of the page.', Contact) {}

/** The answer that lists contacts. */
export class ContactsAnswer {
  @Shown('A page of contacts.', objectOf(ContactPage))
  contacts!: ContactPage;
}

/** An item of a batch that was not taken. */
export class FailedContact {
  @Shown('The place of the item in the request, from 0.', count, { example: 2 })
  index!: number;

  @Shown('The address as the request has it; `null` if that is not text.', nullable(text), {
    example: 'ada@example.com',
  })
  email!: string | null;

  @Shown('The error that the contact would have got alone.', objectOf(ErrorAnswer))
  error!: ErrorAnswer;
}

/** What became of the items of a batch. */
export class ContactBatchResult {
  @Shown('The contacts that are created or updated, in the order of the request.', listOf(Contact))
  successful!: Contact[];

  @Shown('The items that were not accepted, in the order of the request.', listOf(FailedContact))
  failed!: FailedContact[];
}

/** The answer to a batch. */
export class ContactBatchAnswer {
  @Shown('What became of each item.', objectOf(ContactBatchResult))
  contacts!: ContactBatchResult;
}

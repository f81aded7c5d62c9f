import { CONTACT_STATUSES, type ContactStatus, type JsonObject, SIZES } from '@posthorn/domain';
import type { WantedContact } from '@posthorn/use-cases';
import { referenceTo } from '../openapi/json-schema.ts';
import { PageQuery } from '../paging/page-query.ts';
import { batchOf } from '../validation/batch.ts';
import { address, addressIn } from '../validation/mailbox-rules.ts';
import { jsonObject } from '../validation/object-rules.ts';
import { Optional, Required, type Rule } from '../validation/rule.ts';
import { oneOfWords, text } from '../validation/text-rules.ts';
import { validateBody } from '../validation/validate-body.ts';

const properties: Rule = jsonObject({ size: SIZES.contactProperties, keys: SIZES.contactPropertyKeys });
const PROPERTIES_SENTENCE =
  'The properties to set: keys that are given replace the present ones, keys given as `null` are removed, the others stay. A contact has up to 100 keys, 64 KiB as JSON and 32 levels.';

/** Never SUBSCRIBED: other services take the status among the fields of a contact, and an import would resubscribe people. */
const unsubscribed: Rule = text({ enum: ['UNSUBSCRIBED'] }, (value) =>
  value === 'UNSUBSCRIBED'
    ? undefined
    : 'is not possible here, where contacts can only be unsubscribed (POST /v1/contacts/{contact_id}/resubscribe is for those who asked for it); give `UNSUBSCRIBED` or leave it out',
);

/** A contact that is to be created, or updated where the address has one. */
export class UpsertContactRequest {
  @Required(address, 'The address of the contact, without a name.', { example: 'ada@example.com' })
  email!: string;

  @Optional(properties, PROPERTIES_SENTENCE, { example: { firstName: 'Ada', plan: 'pro' } })
  properties?: JsonObject;

  @Optional(
    unsubscribed,
    'Unsubscribes the contact, such as one who unsubscribed at another service. If absent, the status stays; a new contact is subscribed.',
  )
  status?: 'UNSUBSCRIBED';
}

/** What is to be changed of a contact; absent fields stay unchanged. */
export class UpdateContactRequest {
  @Optional(properties, PROPERTIES_SENTENCE, { example: { plan: 'free', coupon: null } })
  properties?: JsonObject;
}

/** Validates a contact that is to be created or updated. @throws Refusal (400) */
export function validateUpsert(body: unknown): WantedContact {
  const {
    email,
    properties = {},
    status,
  } = validateBody(UpsertContactRequest, body, (name) =>
    adviceForField(name, 'for a contact who has unsubscribed, give `"status": "UNSUBSCRIBED"`'),
  );
  return { email: addressIn(email), properties, status };
}

/** Validates what is to be changed of a contact. @throws Refusal (400) */
export function validateUpdate(body: unknown): UpdateContactRequest {
  return validateBody(UpdateContactRequest, body, (name) =>
    adviceForField(
      name,
      'a contact is unsubscribed by a call of its own, POST /v1/contacts/{contact_id}/unsubscribe',
    ),
  );
}

/** The fault of a field that contacts have in another service; undefined for any other name. @param statusAdvice what to do about a status */
function adviceForField(name: string, statusAdvice: string): string | undefined {
  if (/^(?:status|(?:un)?subscribed(?:_?at)?)$/i.test(name)) return `is not a known field; ${statusAdvice}`;
  if (/^(?:(?:(?:first|last|full)_?)?name|phone)$/i.test(name))
    return `is not a known field; did you mean \`properties.${name}\`?`;
  if (/^(?:attributes|(?:custom|merge)_?fields|data)$/i.test(name))
    return 'is not a known field; did you mean `properties`?';
  return undefined;
}

/** Several contacts that are to be created or updated together. */
export class UpsertContactsRequest {
  @Required(
    batchOf('contacts', SIZES.contactBatch, referenceTo(UpsertContactRequest)),
    'The contacts: 1 to 500.',
    {
      example: [
        { email: 'ada@example.com', properties: { firstName: 'Ada', plan: 'pro' } },
        { email: 'grace@example.com', properties: { firstName: 'Grace' } },
      ],
    },
  )
  contacts!: unknown[];
}

/** The page and filter of a list of contacts. */
export class ContactsQuery extends PageQuery {
  @Optional(address, 'Only the contact with this address; letter case does not matter.', {
    example: 'ada@example.com',
  })
  email?: string;

  @Optional(oneOfWords('ContactStatus', Object.keys(CONTACT_STATUSES)), 'Only contacts with this status.', {
    example: 'SUBSCRIBED',
  })
  status?: ContactStatus;
}

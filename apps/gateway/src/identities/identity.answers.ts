import { IDENTITY_STATUSES, KEY_STAGES, meaningsOf, RECORD_STATES } from '@posthorn/domain';
import { idOf, listOf, nullable, objectOf, text, time, bool, wordOf } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

const VALUE = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';

/** An address or a domain. */
export class Identity {
  @AnswerField('The id of the identity.', idOf('idn'))
  id!: string;

  @AnswerField(
    'Whether it is one address, or every address at a domain.',
    wordOf('IdentityKind', ['domain', 'address']),
  )
  kind!: 'address' | 'domain';

  @AnswerField('The address, or the domain in lower case and punycode.', text, {
    example: 'mail.example.com',
  })
  value!: string;

  @AnswerWord('IdentityStatus', IDENTITY_STATUSES)
  status!: string;

  @AnswerField('When it was verified; `null` while it is not.', nullable(time), { example: null })
  verifiedAt!: Date | null;

  @AnswerField('When it was added.', time)
  createdAt!: Date;
}

/** A record that a domain should have. */
class IdentityRecord {
  @AnswerField(
    'The purpose of the record.',
    wordOf('IdentityRecordPurpose', ['DKIM_ED25519', 'DKIM_RSA', 'SPF', 'DMARC']),
  )
  purpose!: string;

  @AnswerField('Whether it is required to verify the domain; the others are recommended.', bool, {
    example: false,
  })
  isRequired!: boolean;

  @AnswerField('Always `TXT`.', wordOf('IdentityRecordType', ['TXT']))
  type!: 'TXT';

  @AnswerField('The full name at which to set it.', text, {
    example: 'ph-3vqjhp41xx-ed25519._domainkey.mail.example.com',
  })
  name!: string;

  @AnswerField('The value to set; `null` if only the operator of the relay knows it.', nullable(text), {
    example: VALUE,
  })
  value!: string | null;

  @AnswerField(
    `Of a DKIM key; \`null\` for other records. ${meaningsOf(KEY_STAGES)}`,
    nullable(wordOf('DkimKeyStage', Object.keys(KEY_STAGES))),
    { example: 'CURRENT' },
  )
  stage!: string | null;

  @AnswerField('Until when the record of a previous key must stay; `null` for all others.', nullable(time), {
    example: null,
  })
  keepUntil!: Date | null;

  @AnswerWord('IdentityRecordStatus', RECORD_STATES, { example: 'FOUND' })
  status!: string;

  @AnswerField('What was found, and how to fix it.', text, { example: 'The key is published' })
  message!: string;

  @AnswerField('What was found at the name: up to 10 records, each up to 1,000 characters.', listOf(text), {
    example: [VALUE],
  })
  found!: readonly string[];
}

/** An identity with the records that a domain should have. */
export class IdentityWithRecords extends Identity {
  @AnswerField(
    'The expected records of a domain, and what was found; empty for an address.',
    listOf(IdentityRecord),
  )
  records!: readonly IdentityRecord[];

  @AnswerField('When the records were last looked up.', nullable(time), { example: null })
  checkedAt!: Date | null;

  @AnswerField('When they will be looked up again; `null`: only when requested.', nullable(time), {
    example: null,
  })
  nextCheckAt!: Date | null;

  @AnswerField(
    'Since when a verified domain’s required record has been missing or wrong; 72 hours after that it is `UNVERIFIED`.',
    nullable(time),
    { example: null },
  )
  wrongSince!: Date | null;
}

class IdentityPage extends pageOf('The identities of the page.', Identity) {}

/** The answer that lists identities. */
export class IdentitiesAnswer {
  @AnswerField('A page of the identities of the workspace.', objectOf(IdentityPage))
  identities!: IdentityPage;
}

/** The answer that shows an identity. */
export class IdentityAnswer {
  @AnswerField('The identity.', objectOf(IdentityWithRecords))
  identity!: IdentityWithRecords;
}

/** The answer to an identity that was deleted. */
export class IdentityDeletedAnswer {
  @AnswerField('The identity as it was.', objectOf(Identity))
  identity!: Identity;

  @AnswerField('Always `true`.', bool)
  isDeleted!: true;
}

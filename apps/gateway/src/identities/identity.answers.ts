import { IDENTITY_STATUSES, KEY_STAGES, RECORD_STATES } from '@posthorn/domain';
import { idOf, listOf, nullable, objectOf, text, time, truth, wordOf } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

const VALUE = 'v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=';

/** An address or a domain. */
export class Identity {
  @Shown('The id of the identity.', idOf('idn'))
  id!: string;

  @Shown('Whether it is one address, or every address at a domain.', wordOf(['domain', 'address']))
  kind!: 'address' | 'domain';

  @Shown('The address, or the domain in lower case and punycode.', text, { example: 'mail.example.com' })
  value!: string;

  @Shown(
    '`PENDING`: not verified yet. `VERIFIED`: may be sent from. `AT_RISK`: may be sent from, but its required record has been missing or wrong for a day. ' +
      '`UNVERIFIED`: it was so for three days, and nothing can be sent from it.',
    wordOf(Object.keys(IDENTITY_STATUSES)),
  )
  status!: string;

  @Shown('When it was verified; `null` while it is not.', nullable(time), { example: null })
  verifiedAt!: Date | null;

  @Shown('When it was added.', time)
  createdAt!: Date;
}

/** A record that a domain should have. */
class IdentityRecord {
  @Shown('What it is for.', wordOf(['DKIM_ED25519', 'DKIM_RSA', 'SPF', 'DMARC']))
  purpose!: string;

  @Shown('Whether it verifies the domain; the others are recommended.', truth, { example: false })
  isRequired!: boolean;

  @Shown('Always `TXT`.', wordOf(['TXT']))
  type!: 'TXT';

  @Shown('Where it is to be set, the domain included.', text, {
    example: 'ph-3vqjhp41xx-ed25519._domainkey.mail.example.com',
  })
  name!: string;

  @Shown('What it is to hold; `null` where only the operator of the relay knows.', nullable(text), {
    example: VALUE,
  })
  value!: string | null;

  @Shown(
    'Of a DKIM key: `CURRENT` signs once its record is found, `NEXT` is to follow it, `PREVIOUS` no longer signs; `null` for other records.',
    nullable(wordOf(Object.keys(KEY_STAGES))),
    { example: 'CURRENT' },
  )
  stage!: string | null;

  @Shown('Until when the record of a previous key must stay; `null` for all others.', nullable(time), {
    example: null,
  })
  keepUntil!: Date | null;

  @Shown(
    '`UNCHECKED`: not looked for yet. `FOUND`: it is there and right. `MISSING`: the DNS says that it is not there. `WRONG`: it is there, and not as it should be. ' +
      '`UNANSWERED`: no name server could say.',
    wordOf(['FOUND', ...Object.keys(RECORD_STATES).filter((state) => state !== 'FOUND')]),
  )
  status!: string;

  @Shown('What was found, and how to fix it.', text, { example: 'The key is published' })
  message!: string;

  @Shown('What was found at the name: up to 10 records, each up to 1,000 characters.', listOf(text), {
    example: [VALUE],
  })
  found!: readonly string[];
}

/** An identity with the records that a domain should have. */
export class IdentityWithRecords extends Identity {
  @Shown(
    'The records that a domain should have, and what was found of them; empty for an address.',
    listOf(IdentityRecord),
  )
  records!: readonly IdentityRecord[];

  @Shown('When the records were last looked up.', nullable(time), { example: null })
  checkedAt!: Date | null;

  @Shown('When they will be looked up again; `null`: not before somebody asks.', nullable(time), {
    example: null,
  })
  nextCheckAt!: Date | null;

  @Shown(
    'Since when a verified domain’s required record has been missing or wrong; 72 hours after that it is `UNVERIFIED`.',
    nullable(time),
    { example: null },
  )
  wrongSince!: Date | null;
}

/** A page of identities. */
class IdentityPage extends pageOf('The identities of the page.', Identity) {}

/** The answer that lists identities. */
export class IdentitiesAnswer {
  @Shown('A page of the identities of the workspace.', objectOf(IdentityPage))
  identities!: IdentityPage;
}

/** The answer that shows an identity. */
export class IdentityAnswer {
  @Shown('The identity.', objectOf(IdentityWithRecords))
  identity!: IdentityWithRecords;
}

/** The answer to an identity that was deleted. */
export class IdentityDeletedAnswer {
  @Shown('The identity as it was.', objectOf(Identity))
  identity!: Identity;

  @Shown('Always `true`.', truth)
  isDeleted!: true;
}

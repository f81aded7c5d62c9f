import { SUPPRESSION_REASONS } from '@posthorn/domain';
import { AuditActor } from '../audit-log/audit-log.answers.ts';
import { idOf, nullable, objectOf, text, time, truth, wordOf } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

/** An address that nothing is sent to. */
export class Suppression {
  @Shown('The id of the entry.', idOf('sup'))
  id!: string;

  @Shown('The address as it was first given, its domain in lower case and punycode.', text, {
    example: 'ada@example.com',
  })
  email!: string;

  @Shown(
    'Why: the receiving side said that there is no such recipient, the recipient reported an email, or somebody put it on the list.',
    wordOf(Object.keys(SUPPRESSION_REASONS)),
  )
  reason!: string;

  @Shown('The email that led to it; `null` where somebody put it on the list.', nullable(idOf('trs')))
  emailId!: string | null;

  @Shown('Who put it on the list.', objectOf(AuditActor))
  createdBy!: AuditActor;

  @Shown('Since when it is on the list.', time)
  createdAt!: Date;
}

/** The answer that shows an entry of the list. */
export class SuppressionAnswer {
  @Shown('The entry.', objectOf(Suppression))
  suppression!: Suppression;
}

/** The answer to an address that is put on the list. */
export class SuppressionAddedAnswer extends SuppressionAnswer {
  @Shown('Whether the address was not on the list before.', truth)
  isCreated!: boolean;
}

/** The answer to an entry that is taken off the list. */
export class SuppressionDeletedAnswer extends SuppressionAnswer {
  @Shown('Always `true`.', truth)
  isDeleted!: true;
}

/** A page of the list. */
export class SuppressionPage extends pageOf('The entries of the page.', Suppression) {}

/** The answer that shows the list. */
export class SuppressionsAnswer {
  @Shown('A page of the list.', objectOf(SuppressionPage))
  suppressions!: SuppressionPage;
}

import { SUPPRESSION_REASONS } from '@posthorn/domain';
import { AuditActor } from '../audit-log/audit-log.answers.ts';
import { idOf, listOf, nullable, objectOf, text, time, bool } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';
import { FailedBatchItem } from '../validation/batch.answers.ts';

/** An address that nothing is sent to. */
export class Suppression {
  @AnswerField('The id of the entry.', idOf('sup'))
  id!: string;

  @AnswerField('The address as it was first given, its domain in lower case and punycode.', text, {
    example: 'ada@example.com',
  })
  email!: string;

  @AnswerWord('SuppressionReason', SUPPRESSION_REASONS)
  reason!: string;

  @AnswerField('The email that caused it; `null` if somebody added the address.', nullable(idOf('trs')))
  emailId!: string | null;

  @AnswerField('Who added it to the list.', objectOf(AuditActor))
  createdBy!: AuditActor;

  @AnswerField('Since when it is on the list.', time)
  createdAt!: Date;
}

/** The answer that shows an entry of the list. */
export class SuppressionAnswer {
  @AnswerField('The entry.', objectOf(Suppression))
  suppression!: Suppression;
}

/** The answer to an address that is put on the list. */
export class SuppressionAddedAnswer extends SuppressionAnswer {
  @AnswerField('Whether the address was not on the list before.', bool)
  isCreated!: boolean;
}

/** The answer to an entry that is taken off the list. */
export class SuppressionDeletedAnswer extends SuppressionAnswer {
  @AnswerField('Always `true`.', bool)
  isDeleted!: true;
}

class SuppressionPage extends pageOf('The entries of the page.', Suppression) {}

/** The answer that shows the list. */
export class SuppressionsAnswer {
  @AnswerField('A page of the list.', objectOf(SuppressionPage))
  suppressions!: SuppressionPage;
}

/** An address of a batch that was not accepted. */
class FailedSuppression extends FailedBatchItem {}

/** What became of the items of a batch. */
class SuppressionBatchResult {
  @AnswerField('The entry of each address, in the order of the request.', listOf(Suppression))
  successful!: Suppression[];

  @AnswerField('The items that were not accepted, in the order of the request.', listOf(FailedSuppression))
  failed!: FailedSuppression[];
}

export class SuppressionBatchAnswer {
  @AnswerField('The result of each item.', objectOf(SuppressionBatchResult))
  suppressions!: SuppressionBatchResult;
}

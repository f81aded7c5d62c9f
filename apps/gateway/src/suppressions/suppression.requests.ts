import { SUPPRESSION_REASONS, type SuppressionReason } from '@posthorn/domain';
import { PageQuery } from '../paging/page-query.ts';
import { address } from '../validation/mailbox-rules.ts';
import { Optional, Required } from '../validation/rule.ts';
import { oneOfWords } from '../validation/text-rules.ts';

const reason = oneOfWords(Object.keys(SUPPRESSION_REASONS));

/** The body of the call that suppresses an address. */
export class AddSuppressionRequest {
  @Required(address, 'The address, without a name.', { example: 'ada@example.com' })
  email!: string;

  @Optional(
    reason,
    'Why it is suppressed. Use a value other than `MANUAL` when you import the list of another service.',
    { example: 'MANUAL' },
  )
  reason: SuppressionReason = 'MANUAL';
}

/** The page and filter of a list of suppressions. */
export class SuppressionsQuery extends PageQuery {
  @Optional(address, 'Only the entry of this address; letter case does not matter.', {
    example: 'ada@example.com',
  })
  email?: string;

  @Optional(reason, 'Only entries with this reason.', { example: 'HARD_BOUNCE' })
  reason?: SuppressionReason;
}

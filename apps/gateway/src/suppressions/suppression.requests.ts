import { SIZES, SUPPRESSION_REASONS, type SuppressionReason } from '@posthorn/domain';
import { referenceTo } from '../openapi/json-schema.ts';
import { PageQuery } from '../paging/page-query.ts';
import { batchOf } from '../validation/batch.ts';
import { address, addressIn } from '../validation/mailbox-rules.ts';
import { Optional, Required } from '../validation/rule.ts';
import { oneOfWords } from '../validation/text-rules.ts';
import { validateBody } from '../validation/validate-body.ts';

const reason = oneOfWords('SuppressionReason', Object.keys(SUPPRESSION_REASONS));

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

/** Validates an address that is to be suppressed. @throws Refusal (400) */
export function validateSuppression(body: unknown): {
  readonly email: string;
  readonly reason: SuppressionReason;
} {
  const { email, reason } = validateBody(AddSuppressionRequest, body);
  return { email: addressIn(email), reason };
}

/** Several addresses that are to be suppressed together. */
export class AddSuppressionsRequest {
  @Required(
    batchOf('suppressions', SIZES.suppressionBatch, referenceTo(AddSuppressionRequest)),
    'The addresses: 1 to 500.',
    {
      example: [
        { email: 'ada@example.com', reason: 'HARD_BOUNCE' },
        { email: 'grace@example.com', reason: 'COMPLAINT' },
      ],
    },
  )
  suppressions!: unknown[];
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

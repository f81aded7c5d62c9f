import { SIZES } from '@posthorn/domain';
import { referenceTo } from '../openapi/json-schema.ts';
import { isJsonObject, kindOf, makeRule, Required } from '../validation/rule.ts';
import { sizeFault } from '../validation/sizes.ts';
import { RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';

/** An array of emails; each of them is judged by itself, and answered by itself. */
const emails = makeRule(
  {
    type: 'array',
    items: { oneOf: [referenceTo(RawEmailRequest), referenceTo(TemplatedEmailRequest)] },
    minItems: 1,
    maxItems: SIZES.batch.most,
  },
  (value, field) => {
    if (!Array.isArray(value)) return `\`${field}\` is ${kindOf(value)}; give an array of emails`;
    if (value.length === 0) return `\`${field}\` is empty; give 1 to ${SIZES.batch.most} emails`;
    const fault = sizeFault(value.length, SIZES.batch);
    return fault && `\`${field}\` ${fault}; send the others in another batch`;
  },
);

/** Several emails that are accepted together. */
export class SendBatchRequest {
  @Required(emails, 'The emails: 1 to 50, raw and templated ones mixed as you like.', {
    example: [
      {
        from: 'Shop <shop@example.com>',
        to: 'ada@example.com',
        subject: 'Your receipt',
        html: '<p>Thank you!</p>',
      },
      {
        from: 'Shop <shop@example.com>',
        to: 'grace@example.com',
        subject: 'Your receipt',
        html: '<p>Thank you!</p>',
        groupBy: 'order-receipts',
        idempotencyKey: 'receipt-10043',
      },
    ],
  })
  emails!: unknown[];
}

/** The recipient of an item as its caller wrote it; null when it is no text, or none that could be a mailbox. */
export function recipientOf(item: unknown): string | null {
  if (!isJsonObject(item) || typeof item['to'] !== 'string') return null;
  return item['to'].length <= SIZES.subject.most ? item['to'] : null;
}

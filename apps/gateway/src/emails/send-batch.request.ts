import { SIZES } from '@posthorn/domain';
import { batchOf } from '../validation/batch.ts';
import { Required } from '../validation/rule.ts';
import { SEND_EMAIL_REQUEST } from './send-email.request.ts';

const emails = batchOf('emails', SIZES.batch, SEND_EMAIL_REQUEST.schema);

/** Several emails that are accepted together. */
export class SendBatchRequest {
  @Required(emails, 'The emails: 1 to 50, raw and templated in any mix.', {
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

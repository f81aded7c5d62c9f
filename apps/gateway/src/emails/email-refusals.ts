import { Refusal } from '@posthorn/kernel';
import { keyReused, monthlyLimitReached, noSuchTemplate, unverifiedSender } from '@posthorn/use-cases';
import { parseSendAt } from '@posthorn/domain';
import { type Refusals, refusalBy } from '../openapi/describes.ts';
import { validateBody } from '../validation/validate-body.ts';
import { validateEmailRequest } from './validate-email-request.ts';
import { SendBatchRequest } from './send-batch.request.ts';
import { faultIn } from '../validation/text-rules.ts';

export const SENDER_NOT_VERIFIED: Refusals = {
  'Sender not verified': unverifiedSender(
    { address: 'shop@mail.example.com' },
    { addresses: ['office@example.org'], domains: ['example.com'], unverified: null },
  ),
};

export const TOO_FAR_AHEAD: Refusals = {
  'Too far ahead': new Refusal(
    400,
    `\`sendAt\` ${faultIn(parseSendAt('2030-05-08T09:30:00Z', Date.UTC(2030, 0, 31, 9, 30)))}`,
  ),
};

export const MONTHLY_LIMIT_REACHED: Refusals = {
  'Monthly limit reached': monthlyLimitReached(100_000, 100_000, new Date('2030-01-31T09:30:00.000Z')),
};

const KEY_REUSED: Refusals = {
  'Idempotency key used with another payload': keyReused('{"id":"trs_01m7yxt5zwexraawhax4wxnnqq"}'),
};

/** The refusals of a send. */
export const SEND_REFUSALS: Refusals = {
  'Invalid payload': refusalBy(() =>
    validateEmailRequest({ from: 'shop@example.com', to: 'ada@example.com', html: '<p>Thank you!</p>' }),
  ),
  ...SENDER_NOT_VERIFIED,
  ...TOO_FAR_AHEAD,
  'No such template': noSuchTemplate('welcom'),
  ...MONTHLY_LIMIT_REACHED,
  ...KEY_REUSED,
};

/** The refusals of a whole batch. */
export const BATCH_REFUSALS: Refusals = {
  'Too many emails': refusalBy(() => validateBody(SendBatchRequest, { emails: Array(51).fill({}) })),
  ...MONTHLY_LIMIT_REACHED,
  ...KEY_REUSED,
};

import type { DescribedRefusal } from '../openapi/describes.ts';

export const SENDER_NOT_VERIFIED: DescribedRefusal = {
  status: 400,
  when: 'Sender not verified',
  message:
    '`from` is shop@mail.example.com, which is neither a verified address nor on a verified domain of this workspace; send from one of those listed, or verify this one first',
  allowedEmails: ['office@example.org'],
  allowedDomains: ['example.com'],
  docsPage: 'unverified-sender',
};

export const TOO_FAR_AHEAD: DescribedRefusal = {
  status: 400,
  when: 'Too far ahead',
  message: '`sendAt` is 97 days ahead; at most 90 are possible',
};

export const MONTHLY_LIMIT_REACHED: DescribedRefusal = {
  status: 403,
  when: 'Monthly limit reached',
  message:
    'The monthly sending limit of 100000 emails is reached (100000 used); it resets at 2030-02-01T00:00:00.000Z',
};

const KEY_REUSED: DescribedRefusal = {
  status: 409,
  when: 'Idempotency key used with another payload',
  message: 'The idempotency key was used before with another payload; repeat that payload, or use a new key',
};

/** What a send is refused with. */
export const SEND_REFUSALS: readonly DescribedRefusal[] = [
  {
    status: 400,
    when: 'Invalid payload',
    message:
      '`subject` is missing; a raw email requires `from`, `to`, `subject` and `html`; a templated email requires `template`, `to` and, for what its template prints without a default, `variables`',
    docsPage: 'invalid-payload',
  },
  SENDER_NOT_VERIFIED,
  TOO_FAR_AHEAD,
  {
    status: 400,
    when: 'No such template',
    message: '`template` names no template of this workspace: "welcom"; create it first',
  },
  MONTHLY_LIMIT_REACHED,
  KEY_REUSED,
];

/** What a batch is refused with as a whole. */
export const BATCH_REFUSALS: readonly DescribedRefusal[] = [
  {
    status: 400,
    when: 'Too many emails',
    message: '`emails` has 51 items, 1 more than the 50 that are possible; send the others in another batch',
  },
  MONTHLY_LIMIT_REACHED,
  KEY_REUSED,
];

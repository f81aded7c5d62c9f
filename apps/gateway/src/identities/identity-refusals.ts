import type { DescribedRefusal } from '../openapi/describes.ts';
import { NO_MAILS } from '../openapi/no-mails.ts';

const TOO_MANY_MAILS: DescribedRefusal = {
  status: 429,
  when: 'Too many mails',
  message:
    'Too many verification mails were requested recently, for this address or in this workspace; try again after as many seconds as `Retry-After` says',
};

const TOO_MANY_KEYS: DescribedRefusal = {
  status: 503,
  when: 'Too many keys',
  message: 'Too many domains are being added at once; try again in some seconds',
};

export const CREATE_REFUSALS: readonly DescribedRefusal[] = [
  {
    status: 409,
    when: 'There already',
    message:
      '`domain` is an identity of the workspace already, idn_01h2xcejqtf2nbrexx3vqjhp41; verify that one, or delete it first',
  },
  {
    status: 409,
    when: 'Too many identities',
    message: 'The workspace has 200 identities, which is as many as it may; delete one first',
  },
  NO_MAILS,
  TOO_MANY_MAILS,
  TOO_MANY_KEYS,
];

export const ROTATE_REFUSALS: readonly DescribedRefusal[] = [
  {
    status: 409,
    when: 'An address',
    message: 'The identity is an address; only domains have keys, so add its domain',
  },
  {
    status: 409,
    when: 'Too early',
    message:
      'The keys were changed of late, and the records of those before must stay until 2026-11-28T11:28:07.676Z; rotate again after that',
  },
  TOO_MANY_KEYS,
];

export const VERIFY_REFUSALS: readonly DescribedRefusal[] = [NO_MAILS, TOO_MANY_MAILS, TOO_MANY_KEYS];
